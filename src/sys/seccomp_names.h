// Purpose:    the system headers behind the constants of seccomp/*.policy, so that the generated tables can hold their
//             numbers against them.
// Process:    the build.
// Trust:      none.
// Thread use: constants.
#pragma once

#include <fcntl.h>
#include <linux/fs.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <cerrno>
