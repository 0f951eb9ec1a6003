#include "receiver/connect_shim.h"

#include <curl/curl.h>

#include <bitset>
#include <cerrno>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "limits.h"
#include "sys/dir.h"
#include "sys/socket.h"

namespace intray::receiver {
namespace {

struct Shim {
  std::bitset<limits::kDescriptorsMax> connected;
  ShimCounts counts;
};

// Constant-initialized: libraries may call connect() before main().
constinit Shim g_shim{};

bool in_range(int fd) { return fd >= 0 && static_cast<std::size_t>(fd) < limits::kDescriptorsMax; }

int answer_connect(int fd) {
  if (in_range(fd) && g_shim.connected.test(static_cast<std::size_t>(fd))) {
    ++g_shim.counts.answered;
    return 0;
  }
  ++g_shim.counts.refused;
  errno = EACCES;
  return -1;
}

}  // namespace
}  // namespace intray::receiver

// The prototype comes with curl.h, as does socklen_t.
extern "C" int connect(int fd, const struct sockaddr* /*address*/, socklen_t /*bytes*/) {
  return intray::receiver::answer_connect(fd);
}

namespace intray::receiver {

bool remember_connected(int fd) {
  if (!in_range(fd)) return false;
  g_shim.connected.set(static_cast<std::size_t>(fd));
  return true;
}

void forget_connected(int fd) {
  if (in_range(fd)) g_shim.connected.reset(static_cast<std::size_t>(fd));
}

ShimCounts shim_counts() { return g_shim.counts; }

namespace {

constexpr int kSelfTestRounds = 200;  // of at most 10 ms each: it takes 3
constexpr unsigned kFirstVersionWithoutConnect = 0x080000;

struct SelfTest {
  sys::StreamPair pair;
  std::string body;
  bool socket_given = false;

  static curl_socket_t open_socket(void* self, curlsocktype, struct curl_sockaddr*) {
    auto& test = *static_cast<SelfTest*>(self);
    if (!test.pair.ours.valid() || !remember_connected(test.pair.ours.get())) return CURL_SOCKET_BAD;
    test.socket_given = true;
    return test.pair.ours.release();
  }
  static int socket_options(void*, curl_socket_t, curlsocktype) { return CURL_SOCKOPT_ALREADY_CONNECTED; }
  static int close_socket(void*, curl_socket_t fd) {
    forget_connected(fd);
    const sys::Fd closes_it(fd);
    return 0;
  }
  static std::size_t take_body(char* data, std::size_t size, std::size_t count, void* self) {
    auto& test = *static_cast<SelfTest*>(self);
    if (test.body.size() < limits::kAnswerBodyBytesMax) test.body.append(data, size * count);
    return size * count;
  }
};

// Answers when the head of the request is there; true once it did.
bool serve(int fd, std::string& request) {
  if (sys::quietness(fd) == sys::Quiet::kSpeaking)
    if (auto bytes = sys::read_up_to(fd, 1)) request += *bytes;
  if (!request.ends_with("\r\n\r\n")) return false;
  return sys::write_all(fd, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnull").has_value();
}

}  // namespace

namespace {

std::unexpected<base::Error> broken(const std::string& why) {
  return base::fail(base::ErrorCode::kUnsupported, "libcurl " +
                                                       std::string(curl_version_info(CURLVERSION_NOW)->version) +
                                                       " can't use a connection that it did not make: " + why);
}

// One transfer to `url`; `serve_peer` is asked whenever the other end has something to read, and says whether it is
// done with it.
base::Result<CURLcode> transfer(const char* url, SelfTest& test, const std::function<bool(int)>& serve_peer) {
  test.pair = INTRAY_TRY(sys::make_stream_pair());
  const std::unique_ptr<CURLM, decltype(&curl_multi_cleanup)> multi(curl_multi_init(), &curl_multi_cleanup);
  const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> easy(curl_easy_init(), &curl_easy_cleanup);
  if (!multi || !easy) return broken("no handle");
  curl_easy_setopt(easy.get(), CURLOPT_URL, url);
  curl_easy_setopt(easy.get(), CURLOPT_PROXY, "");
  curl_easy_setopt(easy.get(), CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy.get(), CURLOPT_CAPATH, static_cast<const char*>(nullptr));
  curl_easy_setopt(easy.get(), CURLOPT_CAINFO, static_cast<const char*>(nullptr));
  curl_easy_setopt(easy.get(), CURLOPT_OPENSOCKETFUNCTION, &SelfTest::open_socket);
  curl_easy_setopt(easy.get(), CURLOPT_OPENSOCKETDATA, &test);
  curl_easy_setopt(easy.get(), CURLOPT_SOCKOPTFUNCTION, &SelfTest::socket_options);
  curl_easy_setopt(easy.get(), CURLOPT_CLOSESOCKETFUNCTION, &SelfTest::close_socket);
  curl_easy_setopt(easy.get(), CURLOPT_CLOSESOCKETDATA, &test);
  curl_easy_setopt(easy.get(), CURLOPT_WRITEFUNCTION, &SelfTest::take_body);
  curl_easy_setopt(easy.get(), CURLOPT_WRITEDATA, &test);
  curl_easy_setopt(easy.get(), CURLOPT_FORBID_REUSE, 1L);
  if (curl_multi_add_handle(multi.get(), easy.get()) != CURLM_OK) return broken("no transfer");

  int running = 1;
  bool served = false;
  for (int round = 0; running > 0 && round < kSelfTestRounds; ++round) {
    if (curl_multi_perform(multi.get(), &running) != CURLM_OK) break;
    while (!served && sys::quietness(test.pair.theirs.get()) == sys::Quiet::kSpeaking)
      served = serve_peer(test.pair.theirs.get());
    if (running > 0) curl_multi_poll(multi.get(), nullptr, 0, served ? 10 : 1, nullptr);
  }
  int left = 0;
  const CURLMsg* const message = curl_multi_info_read(multi.get(), &left);
  const CURLcode result =
      message != nullptr && message->msg == CURLMSG_DONE ? message->data.result : CURLE_OPERATION_TIMEDOUT;
  curl_multi_remove_handle(multi.get(), easy.get());
  if (!test.socket_given) return broken("it did not ask for a descriptor");
  return result;
}

// The first bytes of a handshake are there; the peer that hangs up then is all we need.
base::Result<void> begin_handshake() {
  SelfTest test;
  bool spoke = false;
  const CURLcode result = INTRAY_TRY(transfer("https://192.0.2.1/", test, [&](int fd) {
    spoke = sys::read_up_to(fd, 1).has_value();
    sys::shut_down(fd);
    return true;
  }));
  if (!spoke || result == CURLE_OK) return broken(std::string("TLS: ") + curl_easy_strerror(result));
  return {};
}

}  // namespace

base::Result<void> shim_works(bool tls) {
  SelfTest test;
  const std::uint64_t answered_before = g_shim.counts.answered;
  std::string request;
  // TEST-NET-1 (RFC 5737): nobody's address.
  const CURLcode result = INTRAY_TRY(transfer("http://192.0.2.1/", test, [&](int fd) { return serve(fd, request); }));
  if (result != CURLE_OK || test.body != "null") return broken(curl_easy_strerror(result));
  const bool must_call = curl_version_info(CURLVERSION_NOW)->version_num < kFirstVersionWithoutConnect;
  if (must_call && g_shim.counts.answered == answered_before) return broken("its connect() call did not arrive");
  if (tls) INTRAY_TRY(begin_handshake());
  return {};
}

}  // namespace intray::receiver
