// vault-receiver: the reference receiver. See docs/man/vault-receiver.1.

#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <iostream>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "vault-receiver/options.h"
#include "vault-receiver/server.h"

namespace intray::vault_receiver {
namespace {

constexpr int kExitUsage = 2;
constexpr int kExitUnusable = 69;  // directory, log or address
constexpr int kExitLog = 74;       // the request log could not be written any more
constexpr int kExitCredential = 77;

int complain(const base::Error& error, int code) {
  std::cerr << "vault-receiver: " << error.what << '\n';
  return code;
}

// False: the parent ended before this could be asked for.
bool tie_to_parent(pid_t parent) { return ::prctl(PR_SET_PDEATHSIG, SIGTERM) == 0 && ::getppid() == parent; }

// Each connection takes a descriptor; the soft limit is often 1024.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

// SIGTERM and SIGINT arrive through the server's descriptor; blocked early, so that none is lost while starting.
void prepare_signals() {
  std::signal(SIGPIPE, SIG_IGN);
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTERM);
  sigaddset(&stop, SIGINT);
  ::pthread_sigmask(SIG_BLOCK, &stop, nullptr);
}

int serve(const Options& options) {
  auto root = VaultRoot::make(options.vault_root);
  if (!root) {
    return complain({base::ErrorCode::kInvalid, 0, "--vault-root must be an absolute path without '.' or '..'"},
                    kExitUsage);
  }
  std::optional<BearerCheck> bearer;
  if (!options.credential_file.empty()) {
    auto read = BearerCheck::from_file(options.credential_file);
    if (!read) return complain(read.error(), kExitCredential);
    bearer = *read;
  }
  auto store = VaultStore::open(options.dir, options.sync);
  if (!store) return complain(store.error(), kExitUnusable);
  RequestLog log;
  if (!options.log.empty()) {
    auto opened = RequestLog::open(options.log);
    if (!opened) return complain(opened.error(), kExitUnusable);
    log = std::move(*opened);
  }
  FaultPlan faults;
  for (const Fault& fault : options.faults) faults.add(fault);
  faults.set_file(options.fault_file);
  auto listener = listen_at(options.listen, options.listen_any);
  if (!listener) {
    return complain(listener.error(), listener.error().sys_errno == 0 ? kExitUsage : kExitUnusable);
  }

  const base::SystemClock clock;
  Service service{VaultApi(std::move(*store), std::move(*root), bearer), std::move(faults), std::move(log),
                  options.idle, clock};
  Server server(service, std::move(listener->socket), options.connections_max);
  std::cout << "vault-receiver: listening on " << listener->address << '\n' << std::flush;
  if (auto done = server.run(); !done) return complain(done.error(), kExitLog);
  return 0;
}

int run(int argc, char** argv) {
  const pid_t parent = ::getppid();
  Options options;
  switch (read_command_line(argc, argv, options)) {
    case CommandLine::kRun: break;
    case CommandLine::kDone: return 0;
    case CommandLine::kUsage: return kExitUsage;
  }
  base::init_crypto();
  base::init_log({});
  prepare_signals();
  raise_descriptor_limit();
  if (options.die_with_parent && !tie_to_parent(parent)) return 0;
  return serve(options);
}

}  // namespace
}  // namespace intray::vault_receiver

int main(int argc, char** argv) { return intray::vault_receiver::run(argc, argv); }
