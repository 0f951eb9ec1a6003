// The client over TLS: one CA file, the name checked, and what a failure means.
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>

#include "client_fixture.h"
#include "scripted_server.h"
#include "sys/process.h"

namespace intray::test {
namespace {

using model::Transport;

void run_command(const std::string& command) {
  CAPTURE(command);
  REQUIRE(std::system((command + " >/dev/null 2>&1").c_str()) == 0);
}

// A self-signed certificate, which is its own CA. Each has a subject of its own: of two with one subject OpenSSL takes
// the first that it knows, and never looks for the other.
struct Certificate {
  Certificate(const TempDir& dir, const std::string& name, const std::string& host)
      : path(dir.path + "/" + name + ".pem"), key(dir.path + "/" + name + ".key") {
    run_command("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=" + name +
                " -keyout " + key + " -out " + path + " -addext subjectAltName=DNS:" + host + ",IP:127.0.0.1");
  }
  std::string pem() const {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::string path;
  std::string key;
};

// A child that ends when its stdin does.
class TlsServer {
 public:
  TlsServer(const Certificate& certificate, const std::string& mode) {
    const char* const script = std::getenv("INTRAY_TLS_SERVER");
    if (script == nullptr) FAIL("INTRAY_TLS_SERVER must name tls_server.py");
    std::array<int, 2> in{};
    std::array<int, 2> out{};
    REQUIRE(::pipe2(in.data(), O_CLOEXEC) == 0);
    REQUIRE(::pipe2(out.data(), O_CLOEXEC) == 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(in[0], STDIN_FILENO);
      ::dup2(out[1], STDOUT_FILENO);
      ::execlp("python3", "python3", script, certificate.path.c_str(), certificate.key.c_str(), mode.c_str(), nullptr);
      ::_exit(127);
    }
    ::close(in[0]);
    ::close(out[1]);
    stdin_ = sys::Fd(in[1]);
    const std::unique_ptr<FILE, int (*)(FILE*)> said(::fdopen(out[0], "r"), &::fclose);
    REQUIRE(std::fscanf(said.get(), "%d", &port_) == 1);
  }
  TlsServer(const TlsServer&) = delete;
  TlsServer& operator=(const TlsServer&) = delete;
  ~TlsServer() {
    stdin_.reset();
    ::waitpid(pid_, nullptr, 0);
  }
  FixtureOptions options(const Certificate& trusted, const std::string& host = "127.0.0.1") const {
    FixtureOptions out;
    out.address = "127.0.0.1:" + std::to_string(port_);
    out.url = "https://" + host + ":" + std::to_string(port_);
    out.ca_pem = trusted.pem();
    out.connect_timeout = std::chrono::seconds(10);
    out.total_timeout = std::chrono::seconds(10);
    return out;
  }

 private:
  pid_t pid_ = -1;
  sys::Fd stdin_;
  int port_ = 0;
};

TEST_CASE("TLS: the right CA and the right name make an answer, and the connection is kept") {
  const TempDir dir;
  const Certificate certificate(dir, "a", "notes.invalid");
  const TlsServer server(certificate, "answer");
  for (const std::string host : {"127.0.0.1", "notes.invalid"}) {
    ClientFixture fixture(server.options(certificate, host));
    const auto request = fixture.request();
    const std::int64_t wire_bytes = fixture.client->wire_bytes(request);
    for (int i = 0; i < 3; ++i) {
      const auto result = fixture.save(request);
      CHECK(result.answer.transport == Transport::kAnswered);
      CHECK(result.answer.expected_body);
      CHECK(result.bytes_sent == wire_bytes);
    }
    CHECK(fixture.dialled == 1);
  }
}

TEST_CASE("TLS: another CA, or another name, is a TLS failure, and nothing is sent") {
  const TempDir dir;
  const Certificate certificate(dir, "a", "notes.invalid");
  const Certificate other(dir, "b", "notes.invalid");
  const TlsServer server(certificate, "answer");
  for (const auto& options : {server.options(other), server.options(certificate, "other.invalid")}) {
    ClientFixture fixture(options);
    const auto result = fixture.save();
    CAPTURE(result.detail);
    CHECK(result.answer.transport == Transport::kTls);
    CHECK(result.bytes_sent == 0);
    CHECK(fixture.lease_looks == 0);
  }
}

TEST_CASE("TLS: the system's certificates count for nothing") {
  const TempDir dir;
  const Certificate certificate(dir, "a", "notes.invalid");
  const Certificate other(dir, "b", "notes.invalid");
  // OpenSSL's idea of the system store, with the server's certificate in it.
  ::setenv("SSL_CERT_FILE", certificate.path.c_str(), 1);
  ::setenv("SSL_CERT_DIR", dir.path.c_str(), 1);
  const TlsServer server(certificate, "answer");
  ClientFixture fixture(server.options(other));
  CHECK(fixture.save().answer.transport == Transport::kTls);
  ::unsetenv("SSL_CERT_FILE");
  ::unsetenv("SSL_CERT_DIR");
}

// libcurl is built with a directory of its own, where OpenSSL finds certificates by a hash of their subject.
TEST_CASE("TLS: the system's directory of certificates counts for nothing") {
  const TempDir dir;
  const Certificate certificate(dir, "a", "notes.invalid");
  const Certificate other(dir, "b", "notes.invalid");
  const std::string store = dir.path + "/certs";
  run_command("mkdir " + store + " && cp " + certificate.path + " " + store + "/$(openssl x509 -noout -hash -in " +
              certificate.path + ").0");
  const TlsServer server(certificate, "answer");
  constexpr int kNoNamespace = 77;
  const pid_t child = ::fork();
  if (child == 0) {
    if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount(store.c_str(), "/etc/ssl/certs", nullptr, MS_BIND, nullptr) != 0)
      ::_exit(kNoNamespace);
    ClientFixture fixture(server.options(other));
    ::_exit(fixture.save().answer.transport == Transport::kTls ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  if (WEXITSTATUS(status) == kNoNamespace) {
    WARN("skipped: only root, with a mount namespace, can put a certificate there");
    return;
  }
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("TLS: a receiver that speaks plain HTTP is a TLS failure") {
  const TempDir dir;
  const Certificate certificate(dir, "a", "notes.invalid");
  ScriptedServer server([](ScriptedServer&, Peer& peer) {
    peer.pause(std::chrono::milliseconds(20));
    peer.send(reply("400 Bad Request", "speak HTTP"));
    static_cast<void>(peer.request());
  });
  FixtureOptions options;
  options.address = server.address();
  options.url = "https://" + server.address();
  options.ca_pem = certificate.pem();
  ClientFixture fixture(options);
  // It may also be found speaking before it was spoken to, which is no connection.
  const auto transport = fixture.save().answer.transport;
  CHECK((transport == Transport::kTls || transport == Transport::kNotSent));
  CHECK(fixture.lease_looks == 0);
}

TEST_CASE("TLS: a handshake that is cut is not sent") {
  const TempDir dir;
  const Certificate certificate(dir, "a", "notes.invalid");
  const TlsServer server(certificate, "cut");
  ClientFixture fixture(server.options(certificate));
  CHECK(fixture.save().answer.transport == Transport::kNotSent);
}

TEST_CASE("TLS: a request without an answer is lost") {
  const TempDir dir;
  const Certificate certificate(dir, "a", "notes.invalid");
  const TlsServer server(certificate, "lose");
  ClientFixture fixture(server.options(certificate));
  CHECK(fixture.save().answer.transport == Transport::kLost);
  CHECK(fixture.lease_looks == 1);
}

TEST_CASE("TLS: without a CA there is no client") {
  base::SystemClock clock;
  const auto loop = std::move(*sys::EventLoop::create());
  receiver::PoolOptions pool_options;
  pool_options.peer_address = "127.0.0.1:1";
  const auto pool =
      std::move(*receiver::DescriptorPool::create(std::move(sys::make_channel()->ours), pool_options, *loop, clock));
  const TempDir dir;
  const auto credential = receiver::Credential::load(write_file(dir, "c", "token", 0400), ::geteuid());
  receiver::Options client_options;
  client_options.url = "https://127.0.0.1:1";
  CHECK_FALSE(receiver::Client::create(client_options, *credential, *pool, *loop, clock));
  client_options.url = "http://127.0.0.1:1";
  CHECK(receiver::Client::create(client_options, *credential, *pool, *loop, clock));
  client_options.in_flight_max = 0;
  CHECK_FALSE(receiver::Client::create(client_options, *credential, *pool, *loop, clock));
}

}  // namespace
}  // namespace intray::test
