// Purpose:    this process: ids, boot id, start time, locks that die with it, children, the channel to one of them.
// Thread use: one thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sys/dir.h"
#include "sys/fd.h"

namespace intray::sys {

std::uint32_t effective_uid();
std::uint32_t effective_gid();
std::uint32_t supplementary_umask(std::uint32_t mask);  // sets the umask, returns the former
int process_id();
std::string boot_id();                                   // /proc/sys/kernel/random/boot_id, without newline
std::optional<std::uint64_t> start_time_ticks(int pid);  // field 22 of /proc/<pid>/stat
std::optional<std::string> environment(const char* name);
std::optional<std::string> user_name(std::uint32_t uid);
std::optional<std::uint32_t> user_id(const std::string& name);
// A user's name, or a number, which need not be a user's. kNotFound: no such name; kInvalid: no number of a user.
base::Result<std::uint32_t> find_user(const std::string& name_or_number);
std::optional<std::uint32_t> group_id(const std::string& name);

// flock(LOCK_EX|LOCK_NB) on a descriptor of its own. kBusy: another process holds it. Released when the last
// descriptor closes, so it must be taken after the last fork.
base::Result<void> lock_exclusive(int fd);

// A SOCK_SEQPACKET pair, close-on-exec. Only `ours` is non-blocking.
struct ChannelPair {
  Fd ours;
  Fd theirs;
};
base::Result<ChannelPair> make_channel();
// One end of a channel whose other end a service manager's socket `path` leads to; non-blocking, close-on-exec.
base::Result<Fd> connect_channel(const std::string& path);

// fork+exec of `program` (absolute path) with exactly these arguments, an empty environment, stdin from /dev/null,
// stdout to /dev/null, stderr inherited, `channel` as descriptor 3, everything else closed, no signal blocked or
// ignored, SIGTERM when the calling thread ends. Returns the pid once exec succeeded; an error: there is no child.
base::Result<int> spawn(const std::string& program, const std::vector<std::string>& arguments, Fd channel);
// Non-blocking: the wait status where the child ended; that of exit code 255 where `pid` is no child (any more).
std::optional<int> reap(int pid);
void send_signal(int pid, int signo);

// One byte on a seqpacket channel. kBusy: would block (a non-blocking end); kUnavailable: the peer closed.
base::Result<void> send_byte(int channel, char byte);
// The same with a descriptor (-1: none), which stays the caller's.
base::Result<void> send_packet(int channel, char byte, int fd);
// One packet: a byte and at most one descriptor. kBusy: nothing there; kUnavailable: the peer closed; kCorrupt:
// anything else than one byte and at most one descriptor (all received descriptors are closed).
struct Packet {
  char byte = 0;
  Fd fd;
};
base::Result<Packet> receive_packet(int channel);

}  // namespace intray::sys
