#include "scratch.h"

#include <fcntl.h>
#include <grp.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "confine/plan.h"
#include "sys/dir.h"

namespace intray::test {
namespace {

namespace fs = std::filesystem;
constexpr uid_t kNobody = 65534;

// Fixture trouble is no finding about the sandbox: it ends the program.
void must(bool ok, const char* what) {
  if (ok) return;
  std::perror(what);
  std::abort();
}

void put(const std::string& path, const char* text) {
  std::ofstream(path) << text;
  must(::chown(path.c_str(), attempt_uid(), static_cast<gid_t>(-1)) == 0, path.c_str());
}

int open_dir(const std::string& path) { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }

int dial(int port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<in_port_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return ::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 ? fd : -1;
}

}  // namespace

uid_t attempt_uid() { return ::geteuid() == 0 ? kNobody : ::geteuid(); }

const std::vector<std::string>& Scratch::places() {
  static const std::vector<std::string> names = {
      "save/tmp",      "save/new",     "save/cur",      "save/lease/0", "save/lease/1", "save/done", "save/failed",
      "save/rejected", "save/unknown", "save/receipts", "save/ledger",  "mirror.git",   "elsewhere"};
  return names;
}

Scratch::Scratch() {
  std::string name = (fs::temp_directory_path() / "intray-sandbox-XXXXXX").string();
  must(::mkdtemp(name.data()) != nullptr, "mkdtemp");
  root_ = name;
  must(::chmod(root_.c_str(), 0755) == 0, "chmod");
  tcp_ = sys::Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  must(::listen(tcp_.get(), 4096) == 0, "listen");
  sockaddr_in bound{};
  socklen_t bytes = sizeof bound;
  must(::getsockname(tcp_.get(), reinterpret_cast<sockaddr*>(&bound), &bytes) == 0, "getsockname");
  port_ = ntohs(bound.sin_port);
  tidy();
  unix_ = sys::Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = place("elsewhere/unix.sock");
  std::strncpy(&address.sun_path[0], path.c_str(), sizeof address.sun_path - 1);
  must(::bind(unix_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0, "bind");
  must(::listen(unix_.get(), 4096) == 0 && ::chmod(path.c_str(), 0777) == 0, "listen");
}

Scratch::~Scratch() {
  std::error_code ignored;
  fs::remove_all(root_, ignored);
}

void Scratch::tidy() const {
  // Connections of earlier attempts are dropped, so that the queue never fills.
  while (true) {
    const sys::Fd old(::accept4(tcp_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!old.valid()) break;
  }
  for (const std::string& name : places()) {
    const std::string path = place(name);
    fs::create_directories(path);
    must(::chown(path.c_str(), attempt_uid(), static_cast<gid_t>(-1)) == 0, "chown");
    for (const auto& entry : fs::directory_iterator(path))
      if (!entry.is_directory() && entry.path().filename() != "unix.sock") fs::remove(entry.path());
    put(path + "/m", "m");
  }
  fs::create_directories(place("mirror.git/objects"));
  must(::chown(place("mirror.git/objects").c_str(), attempt_uid(), static_cast<gid_t>(-1)) == 0, "chown");
  put(place("mirror.git/HEAD"), "ref: refs/heads/main\n");
  put(place("elsewhere/secret"), "secret\n");
  fs::create_symlink(place("elsewhere/secret"), place("save/lease/0/link"));
}

int World::directory(const std::string& place) const {
  const std::array<int, 13> numbers{tmp,      fresh,   cur,      slot,       slot_1, done,     failed,
                                    rejected, unknown, receipts, ledger_dir, mirror, elsewhere};
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (Scratch::places()[i] == place) return numbers[i];
  std::abort();
}

base::Result<confine::Plan> World::plan() {
  // A plan takes directories as objects; these are further descriptors of the same ones, with the numbers that it pins.
  static std::vector<sys::Dir>& dirs = *new std::vector<sys::Dir>;
  dirs.clear();
  const std::array<int World::*, 9> members{&World::tmp,      &World::fresh,   &World::cur,
                                            &World::slot,     &World::done,    &World::failed,
                                            &World::rejected, &World::unknown, &World::receipts};
  const std::array<const char*, 9> names{"tmp",    "new",      "cur",     "lease/0", "done",
                                         "failed", "rejected", "unknown", "receipts"};
  for (const char* name : names) dirs.push_back(INTRAY_TRY(sys::Dir::open(path(std::string("save/") + name))));
  for (std::size_t i = 0; i < members.size(); ++i) this->*members[i] = dirs[i].fd();
  const confine::ExecutorPlaces places{.tmp = dirs[0],
                                       .fresh = dirs[1],
                                       .cur = dirs[2],
                                       .slot = dirs[3],
                                       .done = dirs[4],
                                       .failed = dirs[5],
                                       .rejected = dirs[6],
                                       .unknown = dirs[7],
                                       .receipts = dirs[8],
                                       .file_mode = 0600,
                                       .mirror = path("mirror.git"),
                                       .read_directories = {},
                                       .epoll = epoll,
                                       .timer = timer,
                                       .channel = channel};
  return confine::save_plan(places);
}

bool enter(const Scratch& scratch, World& world) {
  world.root = scratch.root();
  world.port = scratch.port();
  world.parent = ::getppid();
  if (::geteuid() == 0) {
    if (::setgroups(0, nullptr) != 0 || ::setresgid(kNobody, kNobody, kNobody) != 0 ||
        ::setresuid(kNobody, kNobody, kNobody) != 0)
      return false;
    if (::prctl(PR_SET_DUMPABLE, 1) != 0) return false;  // as after an exec
  }
  const auto dir = [&](const char* name) { return open_dir(scratch.place(name)); };
  world.slot_1 = dir("save/lease/1");
  world.ledger_dir = dir("save/ledger");
  world.mirror = dir("mirror.git");
  world.elsewhere = dir("elsewhere");
  world.job = ::open(scratch.place("save/lease/0/m").c_str(), O_RDONLY | O_CLOEXEC);
  world.ledger = ::open(scratch.place("save/ledger/m").c_str(), O_RDWR | O_CLOEXEC);
  world.epoll = ::epoll_create1(EPOLL_CLOEXEC);
  world.other_epoll = ::epoll_create1(EPOLL_CLOEXEC);
  world.timer = ::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
  world.other_timer = ::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
  std::array<int, 2> pair{-1, -1};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair.data()) != 0) return false;
  world.channel = pair[0];
  world.live = dial(world.port);
  for (const int fd : {world.slot_1, world.ledger_dir, world.mirror, world.elsewhere, world.job, world.ledger,
                       world.epoll, world.other_epoll, world.timer, world.other_timer, world.live})
    if (fd < 0) return false;
  return true;
}

}  // namespace intray::test
