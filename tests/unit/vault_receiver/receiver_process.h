// Purpose:    runs the real vault-receiver (path in $VAULT_RECEIVER) over a temporary vault, and talks to it in raw
// bytes. Trust:      test code; every wait is bounded by kPatience. Thread use: one thread.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "temp_vault.h"

namespace intray::vault_receiver {

inline constexpr std::chrono::seconds kPatience{60};  // a machine under load; never waited out when all is well

// The program's path. Throws if the variable is not set: these tests must not pass without the program.
std::string receiver_binary();

struct Finished {
  int status = -1;  // exit status, or 128 + signal
  std::string out;
  std::string err;
};
// Runs it to its end.
Finished run_receiver(const std::vector<std::string>& args);

class Receiver {
 public:
  // Adds --dir, --log (unless given), --listen 127.0.0.1:0 and --die-with-parent; returns when it listens.
  explicit Receiver(const std::vector<std::string>& args = {});
  Receiver(const Receiver&) = delete;
  Receiver& operator=(const Receiver&) = delete;
  ~Receiver();

  pid_t pid() const { return pid_; }
  std::uint16_t port() const { return port_; }
  std::string dir() const { return temp_.path() + "/vault"; }
  std::string log_file() const { return temp_.path() + "/log"; }
  std::string path(const std::string& name) const { return temp_.path() + '/' + name; }
  // The log as it is now, all lines or those of one event.
  std::vector<nlohmann::json> log(std::string_view event = "") const;
  // "received applied answered": the events of one request.
  std::string events(std::uint64_t seq) const;
  // Waits until `n` lines of that event are there; false after kPatience.
  bool await_events(std::string_view event, std::size_t n) const;
  // Sends the signal and waits. The exit status, or 128 + signal.
  int stop(int signal);

 private:
  TempVault temp_;
  pid_t pid_ = -1;
  int out_ = -1;
  std::uint16_t port_ = 0;
};

enum class End { kOpen, kClosed, kReset };

struct Answer {
  int status = 0;  // 0: none came
  std::map<std::string, std::string> headers;
  std::string body;
  bool whole = false;
};

class Client {
 public:
  explicit Client(std::uint16_t port);
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client();

  void send(std::string_view bytes);
  // One answer, by its Content-Length; what is missing at the connection's end makes it not `whole`.
  Answer receive();
  // Whatever comes until the connection's end or until `patience` is over (then kOpen).
  End read_to_end(std::string& bytes, std::chrono::milliseconds patience = kPatience);
  void shut_down_sending();
  void reset();
  void close();

 private:
  enum class More { kBytes, kClosed, kReset, kTimeout };
  More read_more(std::chrono::milliseconds patience);

  int fd_ = -1;
  std::string buffer_;
};

std::string post(const std::string& target, const std::string& body, const std::string& headers = "");
std::string get(const std::string& target, const std::string& headers = "");
std::string save(const std::string& path, const std::string& content, const std::string& headers = "");
std::string remove(const std::string& path, const std::string& headers = "");
std::string read(const std::string& path, const std::string& headers = "");
// One request on a connection of its own.
Answer call(const Receiver& receiver, const std::string& request);

}  // namespace intray::vault_receiver
