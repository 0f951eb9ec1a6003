#include "vault-receiver/options.h"

// g++ 12 sees a null pointer in what it inlined from CLI11 and the standard library; there is none.
#pragma GCC diagnostic ignored "-Wnull-dereference"

#include <CLI/CLI.hpp>
#include <iostream>

namespace intray::vault_receiver {

CommandLine read_command_line(int argc, char** argv, Options& options) {
  CLI::App app("A small vault server over a directory, for tests, demos and benchmarks.", "vault-receiver");
  double idle_seconds = std::chrono::duration<double>(options.idle).count();
  std::vector<std::string> fault_specs;
  app.set_version_flag("--version", "vault-receiver " INTRAY_VERSION);
  app.add_option("--dir", options.dir, "directory that holds the notes")->required();
  app.add_option("--vault-root", options.vault_root, "path under which requests see it")->capture_default_str();
  app.add_option("--listen", options.listen, "ADDRESS:PORT; port 0 takes a free one")->capture_default_str();
  app.add_flag("--listen-any", options.listen_any, "allow an address that is not loopback");
  app.add_option("--credential-file", options.credential_file, "demand this bearer credential");
  app.add_option("--log", options.log, "append each request to this file, as JSON lines");
  app.add_option("--fault", fault_specs, "misbehave: KIND:WHAT[:MODIFIER...], may be repeated; see the man page")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--fault-file", options.fault_file, "file with one fault a line, re-read when it changes");
  app.add_option("--idle-timeout", idle_seconds, "seconds until an idle connection is closed, 0 for never")
      ->check(CLI::Range(0.0, 86400.0))
      ->capture_default_str();
  app.add_option("--max-connections", options.connections_max, "further clients wait")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1'000'000}))
      ->capture_default_str();
  app.add_flag("--sync", options.sync, "have notes on disk before answering");
  app.add_flag("--die-with-parent", options.die_with_parent, "stop when the starting process ends");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // Prints help and version to stdout, errors to stderr.
    return app.exit(error) == 0 ? CommandLine::kDone : CommandLine::kUsage;
  }
  for (const std::string& spec : fault_specs) {
    auto fault = parse_fault(spec);
    if (!fault) {
      std::cerr << "vault-receiver: " << fault.error().what << '\n';
      return CommandLine::kUsage;
    }
    options.faults.push_back(std::move(*fault));
  }
  options.idle = std::chrono::milliseconds(static_cast<std::int64_t>(idle_seconds * 1000));
  return CommandLine::kRun;
}

}  // namespace intray::vault_receiver
