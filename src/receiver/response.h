// Purpose:    collects one answer within its bounds, and knows of its head what counts.
// Trust:      every byte is the receiver's: nothing is kept beyond the bounds, and nothing is logged.
// Thread use: one thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace intray::receiver {

class Response {
 public:
  // `held_bytes`, where given, counts the body bytes of all such answers together, bounded by
  // limits::kReadBytesHeldMax.
  void begin(std::size_t body_bytes_max, std::size_t* held_bytes);
  void drop_body();  // frees it
  Response() = default;
  Response(const Response&) = delete;
  Response& operator=(const Response&) = delete;
  ~Response() { drop_body(); }

  // False: beyond a bound; the exchange must end.
  bool take_header_line(std::string_view line);
  bool take_body(std::string_view bytes);

  const std::string& body() const { return body_; }
  bool any_byte() const { return head_bytes_ > 0; }
  // The last head that began also ended.
  bool head_complete() const { return head_complete_; }
  // Of the last head. Both forms, from now; bounded to 0 to 24 h; the longest where there are several.
  std::optional<base::Micros> retry_after(base::WallTime now) const;
  // How long the server keeps an idle connection by its own words, less a margin.
  std::optional<base::Micros> idle_limit() const { return idle_limit_; }

 private:
  void take_field(std::string_view name, std::string_view value);

  std::size_t body_bytes_max_ = 0;
  std::size_t* held_bytes_ = nullptr;
  std::size_t head_bytes_ = 0;
  bool head_complete_ = false;
  std::string body_;
  std::optional<base::Micros> retry_after_;
  std::optional<base::WallTime> retry_at_;
  std::optional<base::Micros> idle_limit_;
};

}  // namespace intray::receiver
