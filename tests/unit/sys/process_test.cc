#include "sys/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>

#include "temp_dir.h"

using namespace intray;
using base::ErrorCode;
using test::value_of;

namespace {

void wait_readable(int fd) {
  pollfd wait{.fd = fd, .events = POLLIN, .revents = 0};
  REQUIRE(::poll(&wait, 1, 20'000) == 1);
}

int wait_for(int pid) {
  for (int i = 0; i < 2000; ++i) {
    if (const auto status = sys::reap(pid)) return *status;
    ::usleep(10'000);
  }
  FAIL("child " << pid << " did not end");
  return -1;
}

// What a shell script sees of itself, as spawned.
std::string output_of(const test::TempDir& temp, const std::string& script) {
  auto pair = value_of(sys::make_channel());
  const int pid = value_of(sys::spawn("/bin/sh", {"-c", script, "sh", temp / "out"}, std::move(pair.theirs)));
  CHECK(wait_for(pid) == 0);
  return test::read_text(temp / "out");
}

}  // namespace

TEST_CASE("process: facts about this process") {
  CHECK(sys::process_id() == ::getpid());
  CHECK(sys::boot_id().size() == 36);
  const auto start = sys::start_time_ticks(::getpid());
  REQUIRE(start);
  CHECK(*start > 0);
  CHECK(sys::start_time_ticks(::getpid()) == start);
  CHECK_FALSE(sys::start_time_ticks(0x7fffffff));
  CHECK(sys::user_name(0) == "root");
  CHECK(sys::user_id("root") == 0U);
  CHECK(sys::group_id("root") == 0U);
  CHECK_FALSE(sys::user_id("no such user: really"));
  CHECK_FALSE(sys::environment("INTRAY_NO_SUCH_VARIABLE"));
}

TEST_CASE("process: a lock holds against another process and ends with its holder") {
  const test::TempDir temp;
  const auto dir = value_of(sys::Dir::open(temp.path()));
  std::array<int, 2> to_parent{};
  std::array<int, 2> to_child{};
  REQUIRE(::pipe(to_parent.data()) == 0);
  REQUIRE(::pipe(to_child.data()) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto fd = dir.open_rw("0.lock", 0600);
    const bool locked = fd && sys::lock_exclusive(fd->get());
    static_cast<void>(!::write(to_parent[1], locked ? "y" : "n", 1));
    char byte = 0;
    static_cast<void>(!::read(to_child[0], &byte, 1));
    ::_exit(0);
  }
  char answer = 0;
  REQUIRE(::read(to_parent[0], &answer, 1) == 1);
  REQUIRE(answer == 'y');
  const auto fd = value_of(dir.open_rw("0.lock", 0600));
  CHECK(sys::lock_exclusive(fd.get()).error().code == ErrorCode::kBusy);
  ::kill(child, SIGKILL);
  REQUIRE(::waitpid(child, nullptr, 0) == child);
  CHECK(sys::lock_exclusive(fd.get()));
  for (const int end : {to_parent[0], to_parent[1], to_child[0], to_child[1]}) ::close(end);
}

TEST_CASE("channel: one byte and a descriptor arrive as sent") {
  const test::TempDir temp;
  auto pair = value_of(sys::make_channel());
  CHECK(sys::receive_packet(pair.ours.get()).error().code == ErrorCode::kBusy);
  test::write_text(temp / "file", "through the channel");
  const int file = ::open((temp / "file").c_str(), O_RDONLY);
  value_of(sys::send_packet(pair.theirs.get(), 'f', file));
  ::close(file);
  auto packet = value_of(sys::receive_packet(pair.ours.get()));
  CHECK(packet.byte == 'f');
  REQUIRE(packet.fd.valid());
  CHECK((::fcntl(packet.fd.get(), F_GETFD) & FD_CLOEXEC) != 0);
  CHECK(value_of(sys::read_up_to(packet.fd.get(), 100)) == "through the channel");

  value_of(sys::send_packet(pair.theirs.get(), 'n', -1));
  packet = value_of(sys::receive_packet(pair.ours.get()));
  CHECK(packet.byte == 'n');
  CHECK_FALSE(packet.fd.valid());

  value_of(sys::send_byte(pair.ours.get(), 'b'));
  char byte = 0;
  CHECK(::read(pair.theirs.get(), &byte, 1) == 1);
  CHECK(byte == 'b');

  pair.theirs.reset();
  CHECK(sys::receive_packet(pair.ours.get()).error().code == ErrorCode::kUnavailable);
  CHECK(sys::send_byte(pair.ours.get(), 'b').error().code == ErrorCode::kUnavailable);
}

TEST_CASE("channel: anything else than one byte and one descriptor is refused, and nothing leaks") {
  const auto open_descriptors = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
  };
  const auto pair = value_of(sys::make_channel());
  const auto before = open_descriptors();
  const auto send_raw = [&](std::string bytes, int descriptors) {
    std::array<int, 20> fds{};
    fds.fill(STDERR_FILENO);
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof fds)> control{};
    iovec part{.iov_base = bytes.data(), .iov_len = bytes.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (descriptors > 0) {
      const auto bytes_of_fds = sizeof(int) * static_cast<std::size_t>(descriptors);
      message.msg_control = control.data();
      message.msg_controllen = CMSG_SPACE(bytes_of_fds);
      cmsghdr* const c = CMSG_FIRSTHDR(&message);
      c->cmsg_level = SOL_SOCKET;
      c->cmsg_type = SCM_RIGHTS;
      c->cmsg_len = CMSG_LEN(bytes_of_fds);
      std::copy_n(reinterpret_cast<const char*>(fds.data()), bytes_of_fds, reinterpret_cast<char*>(CMSG_DATA(c)));
    }
    REQUIRE(::sendmsg(pair.theirs.get(), &message, 0) >= 0);
    return sys::receive_packet(pair.ours.get()).error().code;
  };
  CHECK(send_raw("two", 0) == ErrorCode::kCorrupt);
  CHECK(send_raw("x", 2) == ErrorCode::kCorrupt);
  CHECK(send_raw("x", 20) == ErrorCode::kCorrupt);
  CHECK(send_raw("xy", 1) == ErrorCode::kCorrupt);
  CHECK(open_descriptors() == before);
}

TEST_CASE("spawn: the child has an empty environment, four descriptors, and its channel as number 3") {
  const test::TempDir temp;
  ::setenv("INTRAY_TEST_LEAK", "1", 1);
  const int leak = ::open("/", O_RDONLY);  // not close-on-exec
  const std::string seen = output_of(
      temp, "exec >$1; /usr/bin/tr '\\0' '\\n' </proc/self/environ; ls /proc/$$/fd; readlink /proc/$$/fd/[0123]");
  ::close(leak);
  CHECK(seen.find("INTRAY_TEST_LEAK") == std::string::npos);
  CHECK(seen.find("0\n1\n2\n3\n/dev/null\n") != std::string::npos);
  CHECK(seen.find("\nsocket:") != std::string::npos);
}

TEST_CASE("spawn: no signal is blocked or ignored in the child, and SIGTERM comes when the parent ends") {
  const test::TempDir temp;
  ::signal(SIGPIPE, SIG_IGN);
  sigset_t term;
  ::sigemptyset(&term);
  ::sigaddset(&term, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &term, nullptr);
  const std::string seen = output_of(temp, "grep -E '^Sig(Blk|Ign)' /proc/self/status >$1");
  ::sigprocmask(SIG_UNBLOCK, &term, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  CHECK(seen.starts_with("SigBlk:\t0000000000000000\nSigIgn:\t00000000"));
  // Signals 1 to 31. Number 32 belongs to the C library, which lets nobody change it: it may come ignored from our own
  // parent.
  CHECK((std::stoul(seen.substr(seen.size() - 9), nullptr, 16) & 0x7fffffffUL) == 0);
}

TEST_CASE("spawn: a child is told to end when its parent dies") {
  auto pair = value_of(sys::make_channel());
  const pid_t middle = ::fork();
  if (middle == 0) {
    // `exec sleep` holds descriptor 3; we see the end of it when the channel closes.
    const auto child = sys::spawn("/bin/sh", {"-c", "echo >&3; exec sleep 1000"}, std::move(pair.theirs));
    if (!child) ::_exit(1);
    ::pause();
    ::_exit(0);
  }
  pair.theirs.reset();
  wait_readable(pair.ours.get());
  CHECK(value_of(sys::receive_packet(pair.ours.get())).byte == '\n');
  ::kill(middle, SIGKILL);
  REQUIRE(::waitpid(middle, nullptr, 0) == middle);
  wait_readable(pair.ours.get());
  CHECK(sys::receive_packet(pair.ours.get()).error().code == ErrorCode::kUnavailable);
}

TEST_CASE("spawn: a program that can't be started is an error, not a child") {
  const test::TempDir temp;
  CHECK(sys::spawn(temp / "nothing", {}, sys::Fd()).error().code != ErrorCode::kNotFound);  // no channel
  const auto started = [&](const std::string& program) {
    auto pair = value_of(sys::make_channel());
    return sys::spawn(program, {}, std::move(pair.theirs));
  };
  CHECK(started(temp / "nothing").error().code == ErrorCode::kNotFound);
  test::write_text(temp / "plain", "text");
  CHECK(started(temp / "plain").error().code == ErrorCode::kDenied);
  CHECK(started("relative").error().code == ErrorCode::kInvalid);
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);  // nothing is left to reap
}

TEST_CASE("reap: tells how the child ended, once, and never hangs on a stranger") {
  auto pair = value_of(sys::make_channel());
  const int pid = value_of(sys::spawn("/bin/sh", {"-c", "exec sleep 1000"}, std::move(pair.theirs)));
  CHECK_FALSE(sys::reap(pid));
  sys::send_signal(pid, SIGTERM);
  const int status = wait_for(pid);
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGTERM);
  CHECK(sys::reap(pid) == 0xff00);
}

TEST_CASE("process: a user by name or number") {
  CHECK(value_of(sys::find_user("root")) == 0);
  CHECK(value_of(sys::find_user("0")) == 0);
  CHECK(value_of(sys::find_user("4294967294")) == 4'294'967'294U);  // a number need not be a user's
  CHECK(sys::find_user("no-such-user-here").error().code == ErrorCode::kNotFound);
  CHECK(sys::find_user("").error().code == ErrorCode::kNotFound);
  CHECK(sys::find_user("4294967295").error().code == ErrorCode::kInvalid);
  CHECK(sys::find_user("99999999999").error().code == ErrorCode::kInvalid);
}
