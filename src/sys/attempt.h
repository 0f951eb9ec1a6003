// Purpose:    acts that ask the kernel whether this process may do something, and leave nothing behind.
// Process:    children of a tool that proves the boundary (sys/identity.h).
// Trust:      paths come from the admin's layout. Nothing is read from, written to or kept of what is opened.
// Thread use: one thread.
#pragma once

#include <string>

#include "sys/identity.h"

namespace intray::sys {

// open(O_RDONLY), of a file or of a directory's list. Not a byte is read.
Attempt try_read(const std::string& path);
// A file: open(O_WRONLY) without truncation. A directory: an unnamed file in it (O_TMPFILE), which nobody sees and
// which is gone at once; where the filesystem has none of these, what the kernel says of the right to add names.
Attempt try_write(const std::string& path);
// unlink. Only for scratch files of the caller.
Attempt try_remove(const std::string& path);
// connect() to a stream socket on a path. Allowed also where nobody listens (any more).
Attempt try_connect(const std::string& path);
// A TCP socket, not connected to anything.
Attempt try_tcp_socket();
// kill(pid, 0): the right to signal, no signal.
Attempt try_signal(int pid);
// Its memory through /proc, or by ptrace(PTRACE_SEIZE), which does not stop it. Only for decoys.
Attempt try_trace(int pid);

// --- what the tries need around them, done by root ---

// An empty directory `to` with owner, group, mode and POSIX ACL of the directory `from`; both absolute.
base::Result<void> clone_directory(const std::string& from, const std::string& to);
// A file of the caller's own in that directory; one that is there already stays.
base::Result<void> place_file(const std::string& path);
void remove_file(const std::string& path);
void remove_directory(const std::string& path);
bool has_acl(const std::string& path);  // a POSIX ACL beyond the mode

}  // namespace intray::sys
