// Purpose:    the request log: what arrived, what was done, what was answered, in order. Tests count mutations by it.
// Trust:      values come from clients; every line is valid JSON on one line. Never a credential, never note content.
// Thread use: one thread.
// Durability: one O_APPEND write() a line, before the next step is taken; no sync.
//
// Events of one request share `seq` (1, 2, … since this process started, as `conn`):
//   received    the whole request is here; "fault": the fault that will meet it
//   applied     the vault was changed; content_sha256 is that of the bytes stored
//   answered    written right before the answer is handed to the kernel, so whoever holds an answer finds its line
//   unanswered  no (whole) answer was given; "why" says the fault, or that the client was gone
//   refused     what came was not a request (status says why); there is no `received` then
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "vault-receiver/fd.h"

namespace intray::vault_receiver {

// Empty members and a zero status are left out of the line.
struct LogLine {
  std::uint64_t seq = 0;
  std::uint64_t conn = 0;
  std::string_view event;
  std::string_view method;
  std::string_view target;  // without the query
  std::string_view path;    // the vault path, wherever the request carried it
  std::string_view content_sha256;
  std::string_view request_id;
  std::string_view idempotency_key;
  std::string_view fence;
  int status = 0;
  std::string_view fault;
  std::string_view why;
};

class RequestLog {
 public:
  // Without a file every line is dropped.
  RequestLog() = default;
  // Creates the file with mode 0600, or appends to it. Errors: as open(2).
  static base::Result<RequestLog> open(const std::string& path);

  void write(const LogLine& line, base::WallTime at);
  // A line could not be written whole. The receiver must stop then: a log with holes proves nothing.
  bool broken() const { return broken_; }

 private:
  explicit RequestLog(Fd file) : file_(std::move(file)) {}

  Fd file_;
  bool broken_ = false;
};

}  // namespace intray::vault_receiver
