#include "receiver/easy_settings.h"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

#include "limits.h"

namespace intray::receiver {
namespace {

// TEST-NET-1 (RFC 5737), nobody's address. libcurl must not look the name up, and it never dials; an address it wants.
constexpr std::string_view kPlaceholderAddress = "192.0.2.1";
constexpr std::int64_t kMicrosPerMilli = 1000;
constexpr std::int64_t kMicrosPerSecond = 1'000'000;

// libcurl's options are a C varargs call; this gives them one place to fail.
class Setter {
 public:
  explicit Setter(CURL* easy) : easy_(easy) {}

  template <class Value>
  Setter& set(CURLoption option, const char* name, Value value) {
    if (failed_ == nullptr && curl_easy_setopt(easy_, option, value) != CURLE_OK) failed_ = name;
    return *this;
  }
  base::Result<void> result() const {
    if (failed_ == nullptr) return {};
    return base::fail(base::ErrorCode::kUnsupported, std::string("libcurl refuses ") + failed_);
  }

 private:
  CURL* easy_;
  const char* failed_ = nullptr;
};

#define INTRAY_SET(option, value) set(option, #option, value)

long whole_ms(base::Micros time) {
  return static_cast<long>(std::max<std::int64_t>(1, time.count() / kMicrosPerMilli));
}
long whole_seconds(base::Micros time) {
  return static_cast<long>(std::max<std::int64_t>(1, time.count() / kMicrosPerSecond));
}

bool is_number(const std::string& host) {
  return host.contains(':') || host.find_first_not_of("0123456789.") == std::string::npos;
}

base::Result<void> check_limits(const Options& options) {
  const bool times = options.connect_timeout.count() > 0 && options.total_timeout.count() > 0 &&
                     options.low_speed_window.count() > 0 && options.idle_reuse.count() >= 0;
  const bool sizes = options.low_speed_bytes >= 0 && options.content_bytes_max > 0 && options.in_flight_max >= 1 &&
                     options.in_flight_max <= limits::kInFlightMax;
  if (times && sizes) return {};
  return base::fail(base::ErrorCode::kInvalid, "a limit of the receiver client is out of range");
}

void set_limits(Setter& setter, const Options& options) {
  setter.INTRAY_SET(CURLOPT_CONNECTTIMEOUT_MS, whole_ms(options.connect_timeout))
      .INTRAY_SET(CURLOPT_TIMEOUT_MS, whole_ms(options.total_timeout))
      .INTRAY_SET(CURLOPT_LOW_SPEED_LIMIT, static_cast<long>(options.low_speed_bytes))
      .INTRAY_SET(CURLOPT_LOW_SPEED_TIME, whole_seconds(options.low_speed_window))
      // The exact limit is kept in the pre-request callback; this one makes libcurl close what nobody uses any more. It
      // counts whole seconds and closes what is idle for longer.
      .INTRAY_SET(CURLOPT_MAXAGE_CONN,
                  std::max(0L, static_cast<long>(options.idle_reuse.count() / kMicrosPerSecond) - 1));
}

void set_tls(Setter& setter, const EasyContext& context) {
  // The one CA file, without the system's store: libcurl has a default CAPATH that CAINFO_BLOB leaves in force.
  curl_blob ca{.data = const_cast<char*>(context.options.ca_pem.data()),  // NOLINT(*-const-cast): libcurl only reads it
               .len = context.options.ca_pem.size(),
               .flags = CURL_BLOB_NOCOPY};
  setter.INTRAY_SET(CURLOPT_CAINFO, static_cast<const char*>(nullptr))
      .INTRAY_SET(CURLOPT_CAPATH, static_cast<const char*>(nullptr))
      .INTRAY_SET(CURLOPT_CAINFO_BLOB, &ca)
      .INTRAY_SET(CURLOPT_SSL_VERIFYPEER, 1L)
      .INTRAY_SET(CURLOPT_SSL_VERIFYHOST, 2L)
      .INTRAY_SET(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
}

}  // namespace

base::Result<EasyContext> make_easy_context(const Options& options) {
  INTRAY_TRY(check_limits(options));
  EasyContext out;
  out.options = options;
  out.endpoint = INTRAY_TRY(parse_endpoint(options.url));
  if (out.endpoint.tls && options.ca_pem.empty())
    return base::fail(base::ErrorCode::kInvalid, "an https receiver needs the site's CA certificates");
  const bool default_port = out.endpoint.port == (out.endpoint.tls ? 443 : 80);
  const std::string& host = out.endpoint.host;
  out.host_header = host.contains(':') ? "[" + host + "]" : host;
  if (!default_port) out.host_header += ":" + std::to_string(out.endpoint.port);
  if (!is_number(host)) {
    const std::string entry = host + ":" + std::to_string(out.endpoint.port) + ":" + std::string(kPlaceholderAddress);
    out.resolve.reset(curl_slist_append(nullptr, entry.c_str()));
    if (!out.resolve) return base::fail(base::ErrorCode::kUnsupported, "libcurl has no memory");
  }
  return out;
}

base::Result<void> apply_settings(CURL* easy, const EasyContext& context) {
  const char* const scheme = context.endpoint.tls ? "https" : "http";
  const bool is_ipv6 = context.endpoint.host.contains(':');
  Setter setter(easy);
  setter.INTRAY_SET(CURLOPT_PROTOCOLS_STR, scheme)
      .INTRAY_SET(CURLOPT_REDIR_PROTOCOLS_STR, scheme)
      .INTRAY_SET(CURLOPT_FOLLOWLOCATION, 0L)
      .INTRAY_SET(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1))
      .INTRAY_SET(CURLOPT_HTTP09_ALLOWED, 0L)
      .INTRAY_SET(CURLOPT_HTTP_CONTENT_DECODING, 0L)
      .INTRAY_SET(CURLOPT_ACCEPT_ENCODING, static_cast<const char*>(nullptr))
      .INTRAY_SET(CURLOPT_PATH_AS_IS, 1L)
      .INTRAY_SET(CURLOPT_DISALLOW_USERNAME_IN_URL, 1L)
      .INTRAY_SET(CURLOPT_USERAGENT, "intray/" INTRAY_VERSION)
      // Nothing from the environment or the home directory.
      .INTRAY_SET(CURLOPT_PROXY, "")
      .INTRAY_SET(CURLOPT_NOPROXY, "*")
      .INTRAY_SET(CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED))
      .INTRAY_SET(CURLOPT_COOKIEFILE, static_cast<const char*>(nullptr))
      .INTRAY_SET(CURLOPT_NOSIGNAL, 1L)
      .INTRAY_SET(CURLOPT_NOPROGRESS, 1L)
      .INTRAY_SET(CURLOPT_TCP_KEEPALIVE, 0L)
      // No look-ups: the name stands in the one permanent entry.
      .INTRAY_SET(CURLOPT_IPRESOLVE, static_cast<long>(is_ipv6 ? CURL_IPRESOLVE_V6 : CURL_IPRESOLVE_V4))
      .INTRAY_SET(CURLOPT_DNS_CACHE_TIMEOUT, -1L)
      .INTRAY_SET(CURLOPT_RESOLVE, context.resolve.get());
  set_limits(setter, context.options);
  if (context.endpoint.tls) set_tls(setter, context);
  return setter.result();
}

#undef INTRAY_SET

}  // namespace intray::receiver
