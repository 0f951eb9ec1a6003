#include "receiver/transfer.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/escape.h"
#include "limits.h"
#include "receiver/content_reply.h"
#include "receiver/verdict.h"

namespace intray::receiver {
namespace {

constexpr int kOk = 200;
constexpr int kBadRequest = 400;
constexpr int kTooManyRequests = 429;
constexpr int kServiceUnavailable = 503;
constexpr std::string_view kSavedBody = "null";
constexpr std::string_view kMissingError = "Invalid or missing path";

std::size_t body_bytes_max(Exchange::Kind kind, const Options& options) {
  if (kind == Exchange::Kind::kSave) return limits::kAnswerBodyBytesMax;
  return static_cast<std::size_t>(options.content_bytes_max * limits::kEscapedBytesPerByteMax +
                                  limits::kReadBodySlackBytes);
}

std::int64_t request_counter(CURL* easy) {
  long bytes = 0;
  curl_easy_getinfo(easy, CURLINFO_REQUEST_SIZE, &bytes);
  return bytes;
}

}  // namespace

base::Result<std::unique_ptr<Transfer>> Transfer::create(TransferContext& context, Exchange::Kind kind) {
  std::unique_ptr<Transfer> out(new Transfer(context, kind));
  INTRAY_TRY(out->set_up());
  return out;
}

Transfer::~Transfer() {
  if (added_) context_->multi->remove(easy_);
  if (easy_ != nullptr) curl_easy_cleanup(easy_);
}

base::Result<void> Transfer::set_up() {
  easy_ = curl_easy_init();
  if (easy_ == nullptr) return base::fail(base::ErrorCode::kUnsupported, "libcurl has no handle for us");
  INTRAY_TRY(apply_settings(easy_, context_->easy));
  const auto body_max = static_cast<curl_off_t>(body_bytes_max(kind_, context_->easy.options));
  bool set = curl_easy_setopt(easy_, CURLOPT_PRIVATE, this) == CURLE_OK &&
             curl_easy_setopt(easy_, CURLOPT_ERRORBUFFER, error_text_.data()) == CURLE_OK &&
             curl_easy_setopt(easy_, CURLOPT_OPENSOCKETFUNCTION, &Transfer::on_open_socket) == CURLE_OK &&
             curl_easy_setopt(easy_, CURLOPT_OPENSOCKETDATA, this) == CURLE_OK &&
             curl_easy_setopt(easy_, CURLOPT_SOCKOPTFUNCTION, &Transfer::on_socket_options) == CURLE_OK &&
             curl_easy_setopt(easy_, CURLOPT_CLOSESOCKETFUNCTION, &Multi::close_socket) == CURLE_OK &&
             curl_easy_setopt(easy_, CURLOPT_CLOSESOCKETDATA, context_->multi) == CURLE_OK &&
             curl_easy_setopt(easy_, CURLOPT_PREREQFUNCTION, &Transfer::on_prerequest) == CURLE_OK &&
             curl_easy_setopt(easy_, CURLOPT_PREREQDATA, this) == CURLE_OK &&
             curl_easy_setopt(easy_, CURLOPT_HEADERFUNCTION, &Transfer::on_header) == CURLE_OK &&
             curl_easy_setopt(easy_, CURLOPT_HEADERDATA, this) == CURLE_OK &&
             curl_easy_setopt(easy_, CURLOPT_WRITEFUNCTION, &Transfer::on_body) == CURLE_OK &&
             curl_easy_setopt(easy_, CURLOPT_WRITEDATA, this) == CURLE_OK &&
             curl_easy_setopt(easy_, CURLOPT_MAXFILESIZE_LARGE, body_max) == CURLE_OK;
  if (kind_ == Exchange::Kind::kSave) {
    set = set && curl_easy_setopt(easy_, CURLOPT_URL, context_->save_url.c_str()) == CURLE_OK &&
          curl_easy_setopt(easy_, CURLOPT_POST, 1L) == CURLE_OK;
  } else {
    set = set && curl_easy_setopt(easy_, CURLOPT_HTTPHEADER, context_->headers->for_read()) == CURLE_OK;
  }
  if (!set) return base::fail(base::ErrorCode::kUnsupported, "libcurl refuses a setting of a transfer");
  return {};
}

Transfer* Transfer::of(CURL* easy) {
  Transfer* self = nullptr;
  curl_easy_getinfo(easy, CURLINFO_PRIVATE, &self);
  return self;
}

// Keeps the count of connections that are spoken for but not taken yet.
void Transfer::await(Awaits what) {
  if (awaits_ == Awaits::kIdle) --context_->awaited_idle;
  if (awaits_ == Awaits::kReady) --context_->awaited_ready;
  if (what == Awaits::kIdle) ++context_->awaited_idle;
  if (what == Awaits::kReady) ++context_->awaited_ready;
  awaits_ = what;
}

bool Transfer::start(std::unique_ptr<Exchange> exchange, bool fresh) {
  exchange_ = std::move(exchange);
  const Options& options = context_->easy.options;
  response_.begin(body_bytes_max(kind_, options), kind_ == Exchange::Kind::kRead ? &context_->held_bytes : nullptr);
  error_text_.front() = '\0';
  connection_ = 0;
  no_connection_ = stale_connection_ = grant_refused_ = request_begun_ = second_try_ = false;
  counted_before_ = 0;
  bool set = true;
  if (kind_ == Exchange::Kind::kSave) {
    const auto body_bytes = static_cast<curl_off_t>(exchange_->body.size());
    set = curl_easy_setopt(easy_, CURLOPT_POSTFIELDS, exchange_->body.data()) == CURLE_OK &&
          curl_easy_setopt(easy_, CURLOPT_POSTFIELDSIZE_LARGE, body_bytes) == CURLE_OK &&
          curl_easy_setopt(easy_, CURLOPT_HTTPHEADER, exchange_->headers->link(context_->headers->for_save())) ==
              CURLE_OK;
  } else {
    set = curl_easy_setopt(easy_, CURLOPT_URL, exchange_->url.c_str()) == CURLE_OK;
  }
  if (fresh != set_fresh_) {
    set = set && curl_easy_setopt(easy_, CURLOPT_FRESH_CONNECT, fresh ? 1L : 0L) == CURLE_OK;
    set_fresh_ = fresh;
  }
  await(fresh ? Awaits::kReady : Awaits::kIdle);
  added_ = set && context_->multi->add(easy_);
  if (!added_) await(Awaits::kNothing);
  return added_;
}

curl_socket_t Transfer::on_open_socket(void* self, curlsocktype, struct curl_sockaddr*) {
  auto& transfer = *static_cast<Transfer*>(self);
  transfer.await(Awaits::kNothing);
  if (transfer.kind_ == Exchange::Kind::kSave && transfer.request_begun_) {
    transfer.second_try_ = true;  // the request may have arrived; it gets no second connection
    return CURL_SOCKET_BAD;
  }
  const curl_socket_t fd = transfer.context_->multi->open_socket();
  transfer.no_connection_ = fd == CURL_SOCKET_BAD;
  if (const Connection* const connection = transfer.context_->multi->connections().find(fd); connection != nullptr)
    transfer.connection_ = connection->serial;
  return fd;
}

int Transfer::on_socket_options(void*, curl_socket_t, curlsocktype) { return CURL_SOCKOPT_ALREADY_CONNECTED; }

int Transfer::on_prerequest(void* self, char*, char*, int, int local_port) {
  auto& transfer = *static_cast<Transfer*>(self);
  transfer.await(Awaits::kNothing);
  return transfer.on_request(local_port) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT;
}

// Connected, TLS done, and the next thing libcurl does is to hand the request to the kernel.
bool Transfer::on_request(int local_port) {
  Connection* const connection = context_->multi->connections().find_port(static_cast<std::uint16_t>(local_port));
  if (kind_ == Exchange::Kind::kRead) {
    if (!request_begun_) counted_before_ = request_counter(easy_);
    request_begun_ = true;
    if (connection != nullptr) connection->busy = true, connection_ = connection->serial;
    return true;
  }
  if (request_begun_) {
    second_try_ = true;
    return false;
  }
  // A new connection was not idle, however long its handshake took.
  const bool is_new = connection != nullptr && connection->serial == connection_;
  if (connection == nullptr || !(is_new ? connection->fit() : connection->usable(context_->clock->boot()))) {
    stale_connection_ = true;
    return false;
  }
  connection->busy = true;
  connection_ = connection->serial;
  counted_before_ = request_counter(easy_);
  if (!exchange_->grant->consume()) {
    grant_refused_ = true;
    return false;
  }
  request_begun_ = true;
  return true;
}

std::size_t Transfer::on_header(char* data, std::size_t size, std::size_t count, void* self) {
  return static_cast<Transfer*>(self)->response_.take_header_line({data, size * count}) ? size * count : 0;
}

// 0 means "nothing taken" of anything but nothing.
std::size_t Transfer::on_body(char* data, std::size_t size, std::size_t count, void* self) {
  return static_cast<Transfer*>(self)->response_.take_body({data, size * count}) ? size * count : 0;
}

// The first counter has the head and whatever of the body went out together with it; the second has the body.
std::int64_t Transfer::bytes_sent() const {
  if (!request_begun_) return 0;
  curl_off_t body = 0;
  curl_easy_getinfo(easy_, CURLINFO_SIZE_UPLOAD_T, &body);
  const std::int64_t first = request_counter(easy_) - counted_before_;
  return kind_ == Exchange::Kind::kSave ? std::min(first, exchange_->head_bytes) + body : first;
}

Transfer::Ended Transfer::end(CURLcode result) {
  await(Awaits::kNothing);
  Ended out;
  const bool may_have_left = kind_ == Exchange::Kind::kSave && request_begun_;
  if (!may_have_left && stale_connection_) out.try_again = Ended::TryAgain::kStaleConnection;
  if (!may_have_left && no_connection_) out.try_again = Ended::TryAgain::kNoConnection;
  if (out.try_again == Ended::TryAgain::kNo) {
    std::string detail;
    const model::Answer answered = answer(result, detail);
    if (kind_ == Exchange::Kind::kSave) {
      out.save.detail = std::move(detail);
      judge_save(answered, out.save);
    } else {
      out.read.detail = std::move(detail);
      judge_read(answered, out.read);
    }
  }
  context_->multi->remove(easy_);
  added_ = false;
  context_->multi->connections().release(connection_, context_->clock->boot(), response_.idle_limit());
  response_.drop_body();
  out.exchange = std::move(exchange_);
  return out;
}

model::Answer Transfer::answer(CURLcode result, std::string& detail) const {
  const std::string_view error_text = error_text_.data();
  model::Answer out;
  out.transport = transport_of({.result = result,
                                .error_text = error_text,
                                .tls = context_->easy.endpoint.tls,
                                .grant_refused = grant_refused_,
                                .request_begun = request_begun_,
                                .second_try = second_try_,
                                .bytes_sent = bytes_sent(),
                                .answer_begun = response_.any_byte(),
                                .head_complete = response_.head_complete()});
  if (out.transport == model::Transport::kAnswered) {
    long status = 0;
    curl_easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &status);
    out.http_status = static_cast<int>(status);
    return out;
  }
  if (result == CURLE_OK) {
    detail = "the answer's head is cut";
    return out;
  }
  detail = second_try_ ? "the connection ended before the answer" : curl_easy_strerror(result);
  // Later texts may quote what the receiver said.
  if (!request_begun_ && !error_text.empty()) detail += ": " + base::escape(error_text);
  return out;
}

void Transfer::judge_save(const model::Answer& answer, MutationResult& out) const {
  out.answer = answer;
  out.answer.expected_body = answer.http_status == kOk && response_.body() == kSavedBody;
  out.bytes_sent = bytes_sent();
  if (answer.http_status == kTooManyRequests || answer.http_status == kServiceUnavailable)
    out.retry_after = response_.retry_after(context_->clock->wall());
}

void Transfer::judge_read(const model::Answer& answer, ReadResult& out) const {
  out.answer = answer;
  if (answer.http_status == kOk) {
    if (const auto content = only_string_member(response_.body(), "content")) {
      out.kind = ReadResult::Kind::kFound;
      out.content_sha256 = base::sha256(*content);
      out.answer.expected_body = true;
    }
  } else if (answer.http_status == kBadRequest && only_string_member(response_.body(), "error") == kMissingError) {
    out.kind = ReadResult::Kind::kMissing;
    out.answer.expected_body = true;
  }
}

}  // namespace intray::receiver
