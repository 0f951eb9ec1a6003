#include "sys/resolve.h"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <memory>

namespace intray::sys {

base::Result<std::string> resolve_numeric(const std::string& host, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int failed = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
  if (failed != 0)
    return base::fail(base::ErrorCode::kUnavailable, "host '" + host + "' does not resolve: " + ::gai_strerror(failed));
  std::array<char, NI_MAXHOST> text{};
  if (::getnameinfo(found->ai_addr, found->ai_addrlen, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) != 0)
    return base::fail(base::ErrorCode::kUnavailable, "host '" + host + "' has no numeric address");
  const std::string address(text.data());
  return (found->ai_family == AF_INET6 ? "[" + address + "]" : address) + ":" + std::to_string(port);
}

std::string own_program() {
  std::array<char, PATH_MAX> text{};
  const ssize_t n = ::readlink("/proc/self/exe", text.data(), text.size() - 1);
  return n <= 0 ? std::string() : std::string(text.data(), static_cast<std::size_t>(n));
}

std::string own_program_dir() {
  const std::string path = own_program();
  return path.empty() ? "." : path.substr(0, path.rfind('/'));
}

base::Result<void> truncate_file(int fd) {
  if (::ftruncate(fd, 0) != 0) return base::fail_errno(errno, "truncate");
  if (::lseek(fd, 0, SEEK_SET) < 0) return base::fail_errno(errno, "seek");
  return {};
}

}  // namespace intray::sys
