// intray-save: the SAVE executor. Everything but the command line is in src/executor/.
#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>

#include "base/hash.h"
#include "base/log.h"
#include "executor/startup.h"
#include "sys/hardening.h"
#include "sys/resolve.h"

int main(int argc, char** argv) {
  using intray::executor::Exit;
  try {
    // First of all: what a starter left open is not ours to have.
    for (const auto& done : {intray::sys::close_all_but({}), intray::sys::check_standard_descriptors()}) {
      if (done) continue;
      std::fprintf(stderr, "intray-save: %s\n", done.error().what.c_str());
      return static_cast<int>(Exit::kUnusable);
    }
    CLI::App app{"Claims SAVE jobs, rebuilds each note from git and saves it at the receiver, at most once."};
    intray::executor::StartOptions options;
    intray::base::LogOptions log;
    bool verbose = false;
    options.config_file = "/etc/intray/save.toml";
    app.add_option("--config", options.config_file, "settings file")->type_name("FILE")->capture_default_str();
    app.add_flag("--once", options.once, "end when new/ is empty and no job can run now");
    app.add_flag("--self-test", options.self_test, "lock down, prove it, print what was proved as JSON, and end");
    app.add_flag("--user-mode", options.user_mode, "everything under one directory, owned by the user who starts this");
    app.add_flag("--log-json", log.json, "one JSON object per log line");
    app.add_flag("-v,--verbose", verbose, "debug messages too");
    app.set_version_flag("--version", "intray-save " INTRAY_VERSION);
    app.footer(
        "Exit codes: 0 clean stop, 1 (--once) some job is not final, 2 usage, 69 ledger or inbox unusable,\n"
        "70 self-test failed, 75 lease held or refused, 76 epoch lost, 77 credential, 78 configuration or layout.\n"
        "See intray-save(8).");
    try {
      app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
      return app.exit(e) == 0 ? 0 : static_cast<int>(Exit::kUsage);
    }
    if (verbose) log.level = intray::base::LogLevel::kDebug;
    intray::base::init_crypto();
    intray::base::init_log(log);
    options.notifier = intray::sys::Notifier::from_environment();
    intray::sys::clear_environment();
    options.program_file = intray::sys::own_program();
    options.program_dir = intray::sys::own_program_dir();
    const Exit code = intray::executor::run_save(options);
    std::fflush(nullptr);
    return static_cast<int>(code);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "intray-save: %s\n", e.what());
    return static_cast<int>(Exit::kUnusable);
  }
}
