// Purpose:    a real TCP server whose every answer the test writes, byte by byte.
// Thread use: one thread accepts, one serves each connection; the recorded requests are behind a lock.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "sys/fd.h"

namespace intray::test {

struct RawRequest {
  int connection = 0;  // from 1
  std::string head;    // request line and header lines, with the blank line
  std::string body;

  std::string line() const { return head.substr(0, head.find("\r\n")); }
  // The value of a header; nullopt where there is none.
  std::optional<std::string> header(std::string_view name) const;
};

// The server's end of one connection.
class Peer {
 public:
  int number() const { return number_; }
  // The next whole request, by its Content-Length; nullopt where the client closed first, or after 10 s.
  std::optional<RawRequest> request();
  bool send(std::string_view bytes);  // false: the client is gone
  void reset();                       // RST instead of FIN
  void pause(std::chrono::milliseconds time);

 private:
  friend class ScriptedServer;
  int fd_ = -1;
  int number_ = 0;
  std::string unread_;
  std::atomic<bool>* stop_ = nullptr;
};

class ScriptedServer {
 public:
  // `serve` runs in a thread of its own for each connection, which is closed when it returns.
  using Serve = std::function<void(ScriptedServer& server, Peer& peer)>;
  explicit ScriptedServer(Serve serve, bool ipv6 = false);
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;
  ~ScriptedServer();

  std::uint16_t port() const { return port_; }
  std::string address() const;  // "127.0.0.1:port"
  void record(const RawRequest& request);
  std::vector<RawRequest> requests() const;
  int connections() const { return accepted_; }

 private:
  void accept_all();

  Serve serve_;
  bool ipv6_;
  std::uint16_t port_ = 0;  // before listener_, which sets it
  sys::Fd listener_;
  std::atomic<bool> stop_ = false;
  std::atomic<int> accepted_ = 0;
  mutable std::mutex mutex_;
  std::vector<RawRequest> requests_;
  std::list<std::thread> threads_;
  std::thread acceptor_;
};

// "HTTP/1.1 <status>\r\nContent-Length: …\r\n<more>\r\n<body>"; `more` are header lines with their ends.
std::string reply(std::string_view status, std::string_view body, std::string_view more = {});
// Answers every request of every connection with the same text, and records it.
ScriptedServer::Serve answer_always(std::string text);

// A port of this host on which nobody listens.
std::uint16_t closed_port();

}  // namespace intray::test
