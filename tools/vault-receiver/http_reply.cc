#include "vault-receiver/http_reply.h"

#include <array>
#include <ctime>
#include <nlohmann/json.hpp>

namespace intray::vault_receiver {
namespace {

bool has_no_body(int status) { return status < 200 || status == 204 || status == 304; }

std::string http_date(base::WallTime now) {
  const std::time_t seconds = std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count();
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 64> text{};
  // The C locale is never changed by this program, so the names are the English ones of RFC 9110.
  const std::size_t length = std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  return {text.data(), length};
}

}  // namespace

Reply error_reply(int status, std::string_view text) {
  const nlohmann::json body = {{"error", std::string(text)}};
  Reply reply;
  reply.status = status;
  reply.body = body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return reply;
}

std::string_view reason_phrase(int status) {
  switch (status) {
    case 100: return "Continue";
    case 102: return "Processing";
    case 103: return "Early Hints";
    case 200: return "OK";
    case 201: return "Created";
    case 202: return "Accepted";
    case 204: return "No Content";
    case 301: return "Moved Permanently";
    case 302: return "Found";
    case 303: return "See Other";
    case 304: return "Not Modified";
    case 307: return "Temporary Redirect";
    case 308: return "Permanent Redirect";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 410: return "Gone";
    case 411: return "Length Required";
    case 412: return "Precondition Failed";
    case 413: return "Content Too Large";
    case 415: return "Unsupported Media Type";
    case 417: return "Expectation Failed";
    case 422: return "Unprocessable Content";
    case 425: return "Too Early";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 502: return "Bad Gateway";
    case 503: return "Service Unavailable";
    case 504: return "Gateway Timeout";
    case 505: return "HTTP Version Not Supported";
    default: return "Status";
  }
}

std::string_view body_of(const Reply& reply) {
  return has_no_body(reply.status) ? std::string_view{} : std::string_view(reply.body);
}

std::string render_head(const Reply& reply, const Persistence& persistence, base::WallTime now) {
  std::string out = "HTTP/1.1 " + std::to_string(reply.status) + ' ';
  out.append(reason_phrase(reply.status)).append("\r\n");
  if (reply.status < 200) return out.append("\r\n");

  if (!has_no_body(reply.status)) out.append("Content-Type: ").append(reply.content_type).append("\r\n");
  for (const auto& [name, value] : reply.headers) out.append(name).append(": ").append(value).append("\r\n");
  out.append("Date: ").append(http_date(now)).append("\r\n");
  if (!persistence.keep_alive) {
    out.append("Connection: close\r\n");
  } else {
    out.append("Connection: keep-alive\r\n");
    if (persistence.idle.count() > 0) {
      const auto seconds = std::chrono::floor<std::chrono::seconds>(persistence.idle).count();
      out.append("Keep-Alive: timeout=").append(std::to_string(seconds)).append("\r\n");
    }
  }
  if (!has_no_body(reply.status)) {
    out.append("Content-Length: ").append(std::to_string(reply.body.size())).append("\r\n");
  }
  return out.append("\r\n");
}

}  // namespace intray::vault_receiver
