#include "vault-receiver/request_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>

namespace intray::vault_receiver {
namespace {

constexpr std::size_t kLineBytesUsual = 512;

bool needs_no_escape(std::string_view value) {
  return std::ranges::all_of(value, [](char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; });
}

// Three lines a request are most of what a request costs here, so only values that need it go through the library.
void add(std::string& text, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  text.append(",\"").append(name).append("\":");
  if (needs_no_escape(value)) {
    text.append(1, '"').append(value).append(1, '"');
  } else {
    const nlohmann::json json(value);
    text.append(json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  }
}

}  // namespace

base::Result<RequestLog> RequestLog::open(const std::string& path) {
  Fd file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600));
  if (!file) return base::fail_errno(errno, "open log " + path);
  return RequestLog(std::move(file));
}

void RequestLog::write(const LogLine& line, base::WallTime at) {
  if (!file_ || broken_) return;
  std::string text;
  text.reserve(kLineBytesUsual);
  text.append("{\"seq\":").append(std::to_string(line.seq)).append(",\"at\":\"").append(base::format_rfc3339(at));
  text.append("\",\"conn\":").append(std::to_string(line.conn));
  add(text, "event", line.event);
  add(text, "method", line.method);
  add(text, "target", line.target);
  add(text, "path", line.path);
  add(text, "content_sha256", line.content_sha256);
  add(text, "request_id", line.request_id);
  add(text, "idempotency_key", line.idempotency_key);
  add(text, "fence", line.fence);
  if (line.status != 0) text.append(",\"status\":").append(std::to_string(line.status));
  add(text, "fault", line.fault);
  add(text, "why", line.why);
  text.append("}\n");
  ssize_t written = 0;
  do {
    written = ::write(file_.get(), text.data(), text.size());
  } while (written < 0 && errno == EINTR);
  broken_ = written != static_cast<ssize_t>(text.size());
}

}  // namespace intray::vault_receiver
