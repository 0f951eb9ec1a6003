// Stands in for an executor or a connector inside its unit, tries what each must not be able to do, and says what
// happened.
//
//   probe                      as an executor: one line "NAME ok|killed|ERRNO" for each attempt, into $PROBE_OUT or
//                              standard output; with $PROBE_CALLS_CHROOT it makes that call and nothing else
//   probe --channel 3 ...      as a connector: the same lines, as packets on descriptor 3
//   probe --ask SOCKET         connects to SOCKET and prints every packet that comes
//
// Each attempt is one that the same user succeeds with where nothing confines it: the test runs it like that first.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static int out_fd = 1;
static int out_is_channel = 0;

static void say(const char* name, int error) {
  char line[256];
  const char* const what = error == 0 ? "ok" : error < 0 ? "killed" : strerrorname_np(error);
  int size = snprintf(line, sizeof line, "%s %s\n", name, what);
  if (size <= 0) return;
  ssize_t done = out_is_channel ? send(out_fd, line, (size_t)size, MSG_NOSIGNAL) : write(out_fd, line, (size_t)size);
  if (done != size) _exit(3);
}

// Each attempt in a process of its own: a system call filter may kill instead of refuse.
#define TRY(name, attempt)                                        \
  do {                                                            \
    pid_t child_ = fork();                                        \
    if (child_ == 0) _exit(attempt);                              \
    int status_ = 0;                                              \
    if (child_ < 0 || waitpid(child_, &status_, 0) < 0) _exit(5); \
    say(name, WIFEXITED(status_) ? WEXITSTATUS(status_) : -1);    \
  } while (0)

static int check(long result) { return result < 0 ? errno : 0; }

static int try_open(const char* path, int flags) {
  int fd = open(path, flags | O_CLOEXEC, 0644);
  int error = check(fd);
  char byte;
  if (fd >= 0 && (flags & O_ACCMODE) == O_RDONLY && read(fd, &byte, 1) < 0) error = errno;
  if (fd >= 0) close(fd);
  return error;
}

static int try_list(const char* path) {
  DIR* dir = opendir(path);
  if (dir == NULL) return errno;
  errno = 0;
  int error = readdir(dir) == NULL ? errno : 0;
  closedir(dir);
  return error;
}

static int try_socket(int domain, int type, int protocol) {
  int fd = socket(domain, type | SOCK_CLOEXEC, protocol);
  int error = check(fd);
  if (fd >= 0) close(fd);
  return error;
}

static int try_connect(const char* address, int port) {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return errno;
  struct sockaddr_in peer = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
  inet_pton(AF_INET, address, &peer.sin_addr);
  int error = 0;
  if (connect(fd, (struct sockaddr*)&peer, sizeof peer) != 0) error = errno;
  if (error == EINPROGRESS) {
    struct pollfd wait = {.fd = fd, .events = POLLOUT};
    socklen_t size = sizeof error;
    if (poll(&wait, 1, 2500) != 1)
      error = ETIMEDOUT;
    else if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0)
      error = errno;
  }
  close(fd);
  return error;
}

static int try_listen(void) {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return errno;
  struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons(8009), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  int error = bind(fd, (struct sockaddr*)&here, sizeof here) != 0 || listen(fd, 1) != 0 ? errno : 0;
  close(fd);
  return error;
}

static int try_connect_unix(const char* path) {
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return errno;
  struct sockaddr_un peer = {.sun_family = AF_UNIX};
  strncpy(peer.sun_path, path, sizeof peer.sun_path - 1);
  int error = check(connect(fd, (struct sockaddr*)&peer, sizeof peer));
  close(fd);
  return error;
}

static int try_exec(void) {
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0) return errno;
  pid_t child = fork();
  if (child < 0) return errno;
  if (child == 0) {
    execl("/usr/bin/true", "true", (char*)NULL);
    int error = errno;
    if (write(report[1], &error, sizeof error) != sizeof error) _exit(1);
    _exit(0);
  }
  close(report[1]);
  int error = 0;
  ssize_t got = read(report[0], &error, sizeof error);
  close(report[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (got == (ssize_t)sizeof error) return error;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : ECHILD;
}

static int try_trace(void) {
  pid_t child = fork();
  if (child < 0) return errno;
  if (child == 0) {
    // Ends by itself: a policy may refuse the signal that would end it.
    sleep(3);
    _exit(0);
  }
  int error = check(ptrace(PTRACE_SEIZE, child, 0, 0));
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  return error;
}

static int try_write_then_execute(void) {
  void* page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return errno;
  return check(mprotect(page, 4096, PROT_READ | PROT_EXEC));
}

static int try_execute_data(const char* path) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return errno;
  int error = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED ? errno : 0;
  close(fd);
  return error;
}

static int try_namespace(void) {
  pid_t child = fork();
  if (child < 0) return errno;
  if (child == 0) _exit(unshare(CLONE_NEWUSER) == 0 ? 0 : errno);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : ECHILD;
}

static void as_executor(void) {
  const char* const own = getenv("PROBE_FILE");  // a file of its inbox
  const char* const victim = getenv("PROBE_VICTIM");
  const char* const credential = getenv("CREDENTIALS_DIRECTORY");
  char path[512];
  TRY("read_settings", try_open("/etc/intray/save.toml", O_RDONLY));
  TRY("read_mirror", try_open("/var/lib/intray/mirror.git/HEAD", O_RDONLY));
  TRY("write_inbox", try_open(own, O_WRONLY | O_CREAT));
  if (credential != NULL) {
    snprintf(path, sizeof path, "%s/save-credential", credential);
    TRY("read_credential", try_open(path, O_RDONLY));
  }
  TRY("read_foreign", try_open("/srv/foreign/file", O_RDONLY));
  TRY("list_foreign", try_list("/srv/foreign"));
  TRY("read_other_kind", try_open("/var/lib/intray/delete/file", O_RDONLY));
  TRY("write_foreign", try_open("/srv/open/written", O_WRONLY | O_CREAT));
  TRY("link_out", check(link(own, "/srv/open/linked")));
  TRY("rename_out", check(rename(own, "/srv/open/renamed")));
  TRY("write_settings_dir", try_open("/etc/intray/open/written", O_WRONLY | O_CREAT));
  TRY("exec", try_exec());
  TRY("socket_inet", try_socket(AF_INET, SOCK_STREAM, 0));
  TRY("socket_udp", try_socket(AF_INET, SOCK_DGRAM, 0));
  TRY("socket_netlink", try_socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE));
  TRY("connect_receiver", try_connect("127.0.0.1", 8008));
  TRY("connect_docker", try_connect_unix("/run/docker.sock"));
  TRY("trace", try_trace());
  if (victim != NULL) {
    // Ignored by default, and unlike SIGCONT not free to all of a session.
    TRY("signal", check(kill(atoi(victim), SIGURG)));
    snprintf(path, sizeof path, "/proc/%s/environ", victim);
    TRY("read_environment_of_other", try_open(path, O_RDONLY));
  }
  TRY("write_then_execute", try_write_then_execute());
  TRY("execute_data", try_execute_data("/var/lib/intray/save/ledger/probe"));
  TRY("namespace", try_namespace());
}

static void as_connector(void) {
  TRY("socket_tcp", try_socket(AF_INET, SOCK_STREAM, 0));
  TRY("connect_receiver", try_connect("127.0.0.1", 8008));
  TRY("connect_other", try_connect("10.9.9.1", 8008));
  TRY("connect_other_port", try_connect("127.0.0.1", 5432));
  TRY("listen", try_listen());
  TRY("socket_udp", try_socket(AF_INET, SOCK_DGRAM, 0));
  TRY("socket_netlink", try_socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE));
  TRY("connect_docker", try_connect_unix("/run/docker.sock"));
  TRY("read_settings", try_open("/etc/intray/save.toml", O_RDONLY));
  TRY("read_foreign", try_open("/srv/foreign/file", O_RDONLY));
  TRY("write_foreign", try_open("/srv/open/written", O_WRONLY | O_CREAT));
  TRY("write_tmp", try_open("/tmp/written", O_WRONLY | O_CREAT));
  TRY("exec", try_exec());
  TRY("trace", try_trace());
  TRY("write_then_execute", try_write_then_execute());
  TRY("namespace", try_namespace());
}

static int ask(const char* path) {
  int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  struct sockaddr_un peer = {.sun_family = AF_UNIX};
  strncpy(peer.sun_path, path, sizeof peer.sun_path - 1);
  if (fd < 0 || connect(fd, (struct sockaddr*)&peer, sizeof peer) != 0) {
    printf("ask %s\n", strerrorname_np(errno));
    return 1;
  }
  // A probe that hangs fails the test and not the whole machine.
  struct timeval patience = {.tv_sec = 180};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  char packet[512];
  for (ssize_t size; (size = read(fd, packet, sizeof packet)) > 0;) printf("%.*s", (int)size, packet);
  return 0;
}

int main(int count, char** arguments) {
  signal(SIGPIPE, SIG_IGN);
  if (count == 3 && strcmp(arguments[1], "--ask") == 0) return ask(arguments[2]);
  if (count > 1 && strcmp(arguments[1], "--channel") == 0) {
    out_fd = 3;
    out_is_channel = 1;
    as_connector();
    return 0;
  }
  if (count > 1 && strcmp(arguments[1], "--as-connector") == 0) {
    as_connector();
    return 0;
  }
  // In the process itself, which the filter then kills.
  if (getenv("PROBE_CALLS_CHROOT") != NULL) return chroot("/") == 0 ? 0 : errno;
  const char* const file = getenv("PROBE_OUT");
  if (file != NULL && (out_fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640)) < 0) return 4;
  as_executor();
  return 0;
}
