#include "receiver_process.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <thread>

extern char** environ;

namespace intray::vault_receiver {
namespace {

using Json = nlohmann::json;

struct Child {
  pid_t pid = -1;
  int out = -1;
  int err = -1;
};

Child spawn(const std::vector<std::string>& args, bool take_stderr) {
  std::array<int, 2> out{-1, -1};
  std::array<int, 2> err{-1, -1};
  if (::pipe2(out.data(), O_CLOEXEC) != 0 || (take_stderr && ::pipe2(err.data(), O_CLOEXEC) != 0)) {
    throw std::runtime_error("pipe2");
  }
  std::vector<std::string> words = {receiver_binary()};
  words.insert(words.end(), args.begin(), args.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  if (take_stderr) posix_spawn_file_actions_adddup2(&actions, err[1], STDERR_FILENO);
  Child child{-1, out[0], err[0]};
  const int error = ::posix_spawn(&child.pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(out[1]);
  if (take_stderr) ::close(err[1]);
  if (error != 0) throw std::runtime_error("spawn " + words[0]);
  return child;
}

std::string read_all(int fd) {
  std::string text;
  std::array<char, 4096> buffer{};
  for (ssize_t n = 0; (n = ::read(fd, buffer.data(), buffer.size())) > 0;) {
    text.append(buffer.data(), static_cast<std::size_t>(n));
  }
  ::close(fd);
  return text;
}

std::string read_line(int fd) {
  std::string line;
  pollfd waiting{fd, POLLIN, 0};
  const auto patience = static_cast<int>(std::chrono::milliseconds(kPatience).count());
  for (char c = 0; ::poll(&waiting, 1, patience) == 1 && ::read(fd, &c, 1) == 1 && c != '\n';) line += c;
  return line;
}

int wait_for(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

std::string receiver_binary() {
  const char* path = std::getenv("VAULT_RECEIVER");
  if (path == nullptr) throw std::runtime_error("VAULT_RECEIVER does not name the program");
  return path;
}

Finished run_receiver(const std::vector<std::string>& args) {
  const Child child = spawn(args, true);
  Finished finished;
  finished.out = read_all(child.out);
  finished.err = read_all(child.err);
  finished.status = wait_for(child.pid);
  return finished;
}

Receiver::Receiver(const std::vector<std::string>& args) {
  std::filesystem::create_directory(dir());
  std::vector<std::string> all = {"--dir", dir(), "--listen", "127.0.0.1:0", "--die-with-parent"};
  if (std::ranges::find(args, "--log") == args.end()) all.insert(all.end(), {"--log", log_file()});
  all.insert(all.end(), args.begin(), args.end());
  const Child child = spawn(all, false);
  pid_ = child.pid;
  out_ = child.out;
  const std::string line = read_line(out_);
  const std::string expected = "vault-receiver: listening on 127.0.0.1:";
  if (!line.starts_with(expected)) {
    stop(SIGKILL);
    throw std::runtime_error("vault-receiver did not start: '" + line + "'");
  }
  port_ = static_cast<std::uint16_t>(std::stoi(line.substr(expected.size())));
}

Receiver::~Receiver() {
  if (pid_ > 0) stop(SIGKILL);
  ::close(out_);
}

int Receiver::stop(int signal) {
  ::kill(pid_, signal);
  return wait_for(std::exchange(pid_, -1));
}

std::vector<Json> Receiver::log(std::string_view event) const {
  std::vector<Json> lines;
  std::istringstream text(read_file(log_file()));
  for (std::string line; std::getline(text, line);) {
    Json json = Json::parse(line);
    if (event.empty() || json.at("event") == event) lines.push_back(std::move(json));
  }
  return lines;
}

std::string Receiver::events(std::uint64_t seq) const {
  std::string out;
  for (const Json& line : log()) {
    if (line.at("seq") == seq) out += (out.empty() ? "" : " ") + line.at("event").get<std::string>();
  }
  return out;
}

bool Receiver::await_events(std::string_view event, std::size_t n) const {
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (log(event).size() < n) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

Client::Client(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    throw std::runtime_error("connect");
  }
}

Client::~Client() { close(); }

void Client::close() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

void Client::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return;  // the server closed already; its answer tells
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

void Client::shut_down_sending() { ::shutdown(fd_, SHUT_WR); }

void Client::reset() {
  const linger now{1, 0};
  ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  close();
}

Client::More Client::read_more(std::chrono::milliseconds patience) {
  pollfd waiting{fd_, POLLIN, 0};
  if (::poll(&waiting, 1, static_cast<int>(patience.count())) != 1) return More::kTimeout;
  std::array<char, 65536> buffer{};
  const ssize_t n = ::recv(fd_, buffer.data(), buffer.size(), 0);
  if (n < 0) return More::kReset;
  buffer_.append(buffer.data(), static_cast<std::size_t>(n));
  return n == 0 ? More::kClosed : More::kBytes;
}

Answer Client::receive() {
  Answer answer;
  std::size_t end = 0;
  while ((end = buffer_.find("\r\n\r\n")) == std::string::npos) {
    if (read_more(kPatience) != More::kBytes) return answer;
  }
  std::istringstream head(buffer_.substr(0, end));
  buffer_.erase(0, end + 4);
  std::string line;
  std::getline(head, line);
  answer.status = std::stoi(line.substr(line.find(' ') + 1));
  while (std::getline(head, line)) {
    if (line.ends_with('\r')) line.pop_back();
    const auto colon = line.find(": ");
    answer.headers[line.substr(0, colon)] = line.substr(colon + 2);
  }
  const auto length = answer.headers.find("Content-Length");
  const std::size_t bytes = length == answer.headers.end() ? 0 : std::stoul(length->second);
  while (buffer_.size() < bytes && read_more(kPatience) == More::kBytes) {
  }
  answer.whole = buffer_.size() >= bytes;
  answer.body = buffer_.substr(0, bytes);
  buffer_.erase(0, answer.body.size());
  return answer;
}

End Client::read_to_end(std::string& bytes, std::chrono::milliseconds patience) {
  More more = More::kBytes;
  while (more == More::kBytes) more = read_more(patience);
  bytes = std::exchange(buffer_, {});
  if (more == More::kTimeout) return End::kOpen;
  return more == More::kReset ? End::kReset : End::kClosed;
}

std::string post(const std::string& target, const std::string& body, const std::string& headers) {
  return "POST " + target + " HTTP/1.1\r\nHost: v\r\n" + headers + "Content-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + body;
}

std::string get(const std::string& target, const std::string& headers) {
  return "GET " + target + " HTTP/1.1\r\nHost: v\r\n" + headers + "\r\n";
}

std::string save(const std::string& path, const std::string& content, const std::string& headers) {
  return post("/api/vault/save", Json{{"content", content}, {"path", path}}.dump(-1, ' ', true), headers);
}

std::string remove(const std::string& path, const std::string& headers) {
  return post("/api/vault/delete", Json{{"path", path}}.dump(-1, ' ', true), headers);
}

std::string read(const std::string& path, const std::string& headers) {
  std::string target = "/api/vault/content?path=";
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0) {
      target += c;
    } else {
      target.append({'%', kDigits[byte / 16U], kDigits[byte % 16U]});
    }
  }
  return get(target, headers);
}

Answer call(const Receiver& receiver, const std::string& request) {
  Client client(receiver.port());
  client.send(request);
  return client.receive();
}

}  // namespace intray::vault_receiver
