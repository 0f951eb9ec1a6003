// A library for LD_PRELOAD that does what smuggled-in code would: once its process is locked down and at work, it makes
// a call that no policy allows. No program of the product loads it or knows of it. INTRAY_VIOLATE says when:
//   claim        after the first job was moved into the lease
//   before-send  before the first byte of the first POST goes out
//   after-send   after the first POST was handed to the kernel
//   answer       (intray-connector) when the first answer is due
// and "abort": no violation, but what a failed assertion does, after the first job was moved into the lease
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

namespace {

std::string& moment() {
  static std::string& text = *new std::string;
  return text;
}

// Before main, which empties the environment.
__attribute__((constructor)) void remember() {
  const char* const text = std::getenv("INTRAY_VIOLATE");
  moment() = text == nullptr ? "" : text;
}

template <class F>
F* next(const char* name) {
  return reinterpret_cast<F*>(::dlsym(RTLD_NEXT, name));
}

bool is_job(const char* name) {
  const std::size_t size = std::strlen(name);
  return size > 5 && std::strcmp(name + size - 5, ".json") == 0;
}

void violate() { static_cast<void>(::syscall(SYS_socket, AF_INET, SOCK_STREAM, 0)); }

}  // namespace

extern "C" {

__attribute__((visibility("default"))) int renameat2(int from, const char* name, int to, const char* new_name,
                                                     unsigned flags) {
  static auto* const real = next<decltype(renameat2)>("renameat2");
  const int answer = real(from, name, to, new_name, flags);
  if (answer == 0 && moment() == "claim" && is_job(name)) violate();
  if (answer == 0 && moment() == "abort" && is_job(name)) std::abort();
  return answer;
}

__attribute__((visibility("default"))) ssize_t send(int fd, const void* bytes, std::size_t size, int flags) {
  static auto* const real = next<decltype(send)>("send");
  const bool is_post = size >= 5 && std::memcmp(bytes, "POST ", 5) == 0;
  if (is_post && moment() == "before-send") violate();
  const ssize_t answer = real(fd, bytes, size, flags);
  if (is_post && moment() == "after-send") violate();
  return answer;
}

__attribute__((visibility("default"))) ssize_t sendmsg(int fd, const msghdr* message, int flags) {
  static auto* const real = next<decltype(sendmsg)>("sendmsg");
  if (moment() == "answer") static_cast<void>(::syscall(SYS_openat, AT_FDCWD, "/etc/passwd", O_RDONLY));
  return real(fd, message, flags);
}

}  // extern "C"
