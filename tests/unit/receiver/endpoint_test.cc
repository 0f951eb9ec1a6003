#include <catch2/catch.hpp>

#include "receiver/descriptor_pool.h"

namespace intray::receiver {
namespace {

TEST_CASE("an endpoint is scheme, host and port") {
  const auto [url, tls, host, port] = GENERATE(table<std::string, bool, std::string, int>({
      {"http://127.0.0.1:8080", false, "127.0.0.1", 8080},
      {"https://notes.example.org", true, "notes.example.org", 443},
      {"http://notes", false, "notes", 80},
      {"https://[::1]:8443", true, "::1", 8443},
      {"http://[2001:db8::1]", false, "2001:db8::1", 80},
      {"https://a_b-c.d:65535", true, "a_b-c.d", 65535},
  }));
  const auto endpoint = parse_endpoint(url);
  REQUIRE(endpoint);
  CHECK(endpoint->tls == tls);
  CHECK(endpoint->host == host);
  CHECK(endpoint->port == port);
}

TEST_CASE("anything more or less is refused") {
  const std::string url =
      GENERATE(as<std::string>{}, "", "http://", "127.0.0.1:8080", "ftp://h", "HTTP://h", "http:/h",  //
               "http://h/", "http://h/api", "http://h?x", "http://h#x", "http://u@h", "http://u:p@h:1",
               "http://h:", "http://h:0", "http://h:080", "http://h:65536", "http://h:-1", "http://h:1 ", "http:// h",
               "http://h\r\nX: y", "http://[::1", "http://[::1]x", "http://[v1.x]", "http://[]", "http://::1",
               "http://.h", "http://-h", "http://h\u00e4", "http://h%41");
  CAPTURE(url);
  const auto endpoint = parse_endpoint(url);
  REQUIRE_FALSE(endpoint);
  CHECK(endpoint.error().code == base::ErrorCode::kInvalid);
  CHECK_FALSE(parse_endpoint("http://" + std::string(254, 'a')));
}

}  // namespace
}  // namespace intray::receiver
