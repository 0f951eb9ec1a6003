// Purpose:    reads HTTP/1.1 requests from a byte stream, strictly: what could be read in two ways is refused.
// Trust:      every byte comes from the network and is hostile; memory is bounded by kHeadBytesMax and kBodyBytesMax.
// Thread use: one thread an object.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace intray::vault_receiver {

struct Header {
  std::string name;   // lower case
  std::string value;  // without surrounding blanks
};

struct Request {
  std::string method;
  std::string path;   // of the target, before '?', still percent-encoded
  std::string query;  // after '?', still percent-encoded
  std::vector<Header> headers;
  std::string body;
  bool keep_alive = true;

  // The first header of that lower-case name, nullptr if there is none. Those whose value decides something
  // (Host, Content-Length, Authorization, Intray-Fence …) occur once at most: more is refused while reading.
  const std::string* header(std::string_view lower_name) const;
};

// Why a request was not accepted; the connection is to be closed after the answer, since where the next
// request begins can't be known.
struct Refusal {
  int status = 400;
  std::string reason;
};

class RequestReader {
 public:
  enum class State { kReading, kComplete, kRefused };

  // Takes bytes up to the end of one request and returns how many; the rest belongs to the next request. Bytes may be
  // cut anywhere. Takes nothing once the state is no longer kReading.
  std::size_t take(std::string_view bytes);

  State state() const { return state_; }
  // A byte of this request was taken.
  bool begun() const { return in_body_ || !head_.empty(); }
  // True once for a request that waits for "100 Continue" before it sends its body.
  bool take_continue_wish();
  // The finished request; the reader is ready for the next one. Only in kComplete.
  Request release();
  // Only in kRefused.
  const Refusal& refusal() const { return refusal_; }

 private:
  std::size_t take_head(std::string_view bytes);
  std::size_t take_body(std::string_view bytes);
  void parse_head();
  bool parse_request_line(std::string_view line);
  bool parse_header_line(std::string_view line);
  bool settle_framing();
  bool refuse(int status, std::string reason);  // always false

  State state_ = State::kReading;
  std::string head_;
  bool in_body_ = false;
  bool continue_wish_ = false;
  bool http_1_0_ = false;
  std::size_t body_bytes_ = 0;
  Request request_;
  Refusal refusal_;
};

// Decodes application/x-www-form-urlencoded text: %HH, and '+' as a blank. False on a broken escape.
bool form_decode(std::string_view text, std::string& out);
// The decoded value of the first member `name` of a query string; false if it is absent or broken.
bool query_member(std::string_view query, std::string_view name, std::string& out);

}  // namespace intray::vault_receiver
