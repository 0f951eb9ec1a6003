// Purpose:    the HTTP side: one mutation shape and one read shape, to one address, with one credential, through
// libcurl's
//             multi interface (its only door).
// Process:    executors. Owns no way to make a socket: connected descriptors come from the pool (descriptor_pool.h).
// Trust:      answers are untrusted: bounded, never interpreted beyond the table in model/outcome.h, never logged.
// Thread use: one thread; callbacks run inside the event loop.
//
// A mutation leaves at most once: it goes out only through the pre-request callback, which consumes the grant and
// refuses a second call, so that libcurl can't resend on a connection that died.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/hash.h"
#include "base/result.h"
#include "model/grant.h"
#include "model/outcome.h"
#include "receiver/credential.h"
#include "receiver/descriptor_pool.h"
#include "sys/event_loop.h"

namespace intray::receiver {

struct Options {
  std::string url;                          // "http://host:port" or "https://host:port"
  std::string ca_pem;                       // contents of the site's CA file; https only
  base::Micros connect_timeout{5'000'000};  // TLS handshake included
  base::Micros total_timeout{30'000'000};
  std::int64_t low_speed_bytes = 1024;
  base::Micros low_speed_window{10'000'000};
  base::Micros idle_reuse{3'000'000};
  std::int64_t content_bytes_max = 4 * 1024 * 1024;  // bounds the read-back's body, escapes included
  int in_flight_max = 64;
};

// A save as it goes over the wire.
struct SaveRequest {
  std::string vault_path;
  std::string content;          // valid UTF-8
  std::string idempotency_key;  // "<effect key>-<n>"
  std::string fence;            // value of Intray-Fence
};

struct MutationResult {
  model::Answer answer;
  std::optional<base::Micros> retry_after;  // 429, 503: from either form of Retry-After, from now; bounded to 0..24 h
  std::int64_t bytes_sent = 0;              // of the HTTP request, as handed to the kernel
  std::string detail;                       // for the log: libcurl's word, escaped; no header or body of the answer
};

struct ReadResult {
  enum class Kind { kFound, kMissing, kUnavailable } kind = Kind::kUnavailable;
  std::optional<base::Sha256> content_sha256;  // kFound
  model::Answer answer;
  std::string detail;
};

class Client {
 public:
  static base::Result<std::unique_ptr<Client>> create(const Options& options, const Credential& credential,
                                                      DescriptorPool& pool, sys::EventLoop& loop,
                                                      const base::Clock& clock);
  virtual ~Client() = default;

  // The size in bytes of the whole rendered request; callers refuse what is over their limit before admission.
  virtual std::int64_t wire_bytes(const SaveRequest& request) const = 0;
  // Sends one mutation. done is called exactly once, never from inside save(). Where no connection is free the request
  // waits for one up to connect_timeout (then kNotSent).
  virtual void save(model::Grant grant, SaveRequest request, std::function<void(MutationResult)> done) = 0;
  // Reads what is at a path. Same waiting rule; libcurl may repeat a read.
  virtual void read(std::string vault_path, std::function<void(ReadResult)> done) = 0;
  virtual int in_flight() const = 0;
  // Ends every connection that no request is on, those that are ready in the pool too (after a settle, at stop). The
  // receiver sees the end at once.
  virtual void drop_idle() = 0;
};

// ASCII JSON of the save body: every non-ASCII code point as \uXXXX (surrogate pairs above U+FFFF).
std::string render_save_body(std::string_view vault_path, std::string_view content);

}  // namespace intray::receiver
