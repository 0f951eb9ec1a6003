#include "receiver/request.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <vector>

#include "receiver/client.h"

namespace intray::receiver {
namespace {

TEST_CASE("a save body is ASCII JSON with content before path") {
  const auto [content, expected] = GENERATE(table<std::string, std::string>({
      {"", R"({"content":"","path":"/v/a.md"})"},
      {"plain text", R"({"content":"plain text","path":"/v/a.md"})"},
      {"\"\\/", R"({"content":"\"\\/","path":"/v/a.md"})"},
      {"\b\f\n\r\t", R"({"content":"\b\f\n\r\t","path":"/v/a.md"})"},
      {std::string("\0\x01\x1f\x7f", 4), "{\"content\":\"\\u0000\\u0001\\u001f\x7f\",\"path\":\"/v/a.md\"}"},
      {"\u00e4\u20ac", R"({"content":"\u00e4\u20ac","path":"/v/a.md"})"},
      {"\U0001F600", R"({"content":"\ud83d\ude00","path":"/v/a.md"})"},
      {"\U00010000\U0010FFFF", R"({"content":"\ud800\udc00\udbff\udfff","path":"/v/a.md"})"},
      {"\uFEFF\u2028", R"({"content":"\ufeff\u2028","path":"/v/a.md"})"},
  }));
  CHECK(render_save_body("/v/a.md", content) == expected);
}

TEST_CASE("every code point survives the rendering, and the size is known before") {
  std::string all;
  const auto append = [&all](char32_t c) {
    const auto put = [&all](char32_t octet) { all += static_cast<char>(octet); };
    if (c < 0x80) {
      put(c);
    } else if (c < 0x800) {
      put(0xc0U | (c >> 6U)), put(0x80U | (c & 0x3fU));
    } else if (c < 0x10000) {
      put(0xe0U | (c >> 12U)), put(0x80U | ((c >> 6U) & 0x3fU)), put(0x80U | (c & 0x3fU));
    } else {
      put(0xf0U | (c >> 18U)), put(0x80U | ((c >> 12U) & 0x3fU)), put(0x80U | ((c >> 6U) & 0x3fU)),
          put(0x80U | (c & 0x3fU));
    }
  };
  for (char32_t c = 0; c <= 0x10ffff; c += c < 0x3000 ? 1 : 61)
    if (c < 0xd800 || c > 0xdfff) append(c);
  const std::string body = render_save_body("/v/\u00e9.md", all);
  CHECK(body.size() == save_body_bytes("/v/\u00e9.md", all));
  CHECK(std::ranges::all_of(body, [](char c) { return static_cast<unsigned char>(c) < 0x80; }));
  const auto parsed = nlohmann::json::parse(body);
  CHECK(parsed.at("content").get<std::string>() == all);
  CHECK(parsed.at("path").get<std::string>() == "/v/\u00e9.md");
  CHECK(parsed.size() == 2);
}

TEST_CASE("a read's URL encodes everything but unreserved characters") {
  CHECK(read_url("http://h:1", "/v/a-b_c.d~1") == "http://h:1/api/vault/content?path=%2Fv%2Fa-b_c.d~1");
  CHECK(read_url("http://h", "a b#?&%=+\"\r\n\xc3\xa9") ==
        "http://h/api/vault/content?path=a%20b%23%3F%26%25%3D%2B%22%0D%0A%C3%A9");
}

}  // namespace
}  // namespace intray::receiver
