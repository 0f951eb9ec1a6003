// Purpose:    one request on its way: an easy handle that is used again and again, and what happened to its present
// request. Trust:      a mutation goes out only through on_request(), which consumes the grant. Thread use: one thread;
// callbacks run inside libcurl, inside the event loop.
#pragma once

#include <curl/curl.h>

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "model/grant.h"
#include "receiver/client.h"
#include "receiver/easy_settings.h"
#include "receiver/multi.h"
#include "receiver/request.h"
#include "receiver/response.h"

namespace intray::receiver {

// What a caller asked for, until it has its answer.
struct Exchange {
  enum class Kind { kSave, kRead } kind = Kind::kRead;
  base::BootTime wait_until{};  // for a connection
  int stale_tries = 0;          // connections found too old

  std::optional<model::Grant> grant;   // kSave
  std::optional<SaveHeaders> headers;  // kSave
  std::string body;                    // kSave
  std::int64_t head_bytes = 0;         // kSave: of the request's head
  std::function<void(MutationResult)> on_save;

  std::string url;  // kRead
  std::function<void(ReadResult)> on_read;
};

// What all transfers of a client share.
struct TransferContext {
  EasyContext easy;
  std::unique_ptr<CommonHeaders> headers;
  std::string save_url;
  std::string read_base;
  Multi* multi = nullptr;
  const base::Clock* clock = nullptr;
  std::size_t held_bytes = 0;  // of read bodies
  int awaited_idle = 0;        // transfers that started counting on an idle connection and have none yet …
  int awaited_ready = 0;       // … or on one out of the pool
};

class Transfer {
 public:
  static base::Result<std::unique_ptr<Transfer>> create(TransferContext& context, Exchange::Kind kind);
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;
  ~Transfer();

  static Transfer* of(CURL* easy);
  Exchange::Kind kind() const { return kind_; }

  // fresh: on a connection out of the pool, whatever idle ones there are. False: libcurl refused; take the exchange
  // back.
  bool start(std::unique_ptr<Exchange> exchange, bool fresh);
  // Its transfer ended. The exchange comes back, and with it:
  struct Ended {
    std::unique_ptr<Exchange> exchange;
    enum class TryAgain {
      kNo,
      kNoConnection,
      kStaleConnection
    } try_again = TryAgain::kNo;  // nothing was asked of the receiver
    MutationResult save;
    ReadResult read;
  };
  Ended end(CURLcode result);
  std::unique_ptr<Exchange> take_back() { return std::move(exchange_); }

 private:
  enum class Awaits { kNothing, kIdle, kReady };

  Transfer(TransferContext& context, Exchange::Kind kind) : context_(&context), kind_(kind) {}
  base::Result<void> set_up();
  void await(Awaits what);
  bool on_request(int local_port);
  // Bytes of the present request that the kernel took.
  std::int64_t bytes_sent() const;
  model::Answer answer(CURLcode result, std::string& detail) const;
  void judge_save(const model::Answer& answer, MutationResult& out) const;
  void judge_read(const model::Answer& answer, ReadResult& out) const;

  static curl_socket_t on_open_socket(void* self, curlsocktype purpose, struct curl_sockaddr* address);
  static int on_socket_options(void* self, curl_socket_t fd, curlsocktype purpose);
  static int on_prerequest(void* self, char* remote_ip, char* local_ip, int remote_port, int local_port);
  static std::size_t on_header(char* data, std::size_t size, std::size_t count, void* self);
  static std::size_t on_body(char* data, std::size_t size, std::size_t count, void* self);

  TransferContext* context_;
  Exchange::Kind kind_;
  CURL* easy_ = nullptr;
  std::unique_ptr<Exchange> exchange_;
  Response response_;
  std::array<char, CURL_ERROR_SIZE> error_text_{};
  bool set_fresh_ = false;  // the handle's present CURLOPT_FRESH_CONNECT

  // Of the present request.
  bool added_ = false;
  Awaits awaits_ = Awaits::kNothing;
  std::uint64_t connection_ = 0;  // serial, 0: none yet
  bool no_connection_ = false;
  bool stale_connection_ = false;
  bool grant_refused_ = false;
  bool request_begun_ = false;
  bool second_try_ = false;
  std::int64_t counted_before_ = 0;  // libcurl's counter may not start at 0 on a handle that was used before
};

}  // namespace intray::receiver
