#include "cli/app.h"

#include <CLI/CLI.hpp>
#include <functional>
#include <iostream>

#include "base/escape.h"
#include "base/hash.h"
#include "cli/config_check.h"
#include "cli/doctor.h"
#include "cli/exit_code.h"
#include "cli/explain.h"
#include "cli/init.h"
#include "cli/log.h"
#include "cli/ls.h"
#include "cli/show.h"
#include "cli/submit_files.h"
#include "cli/submit_save.h"
#include "cli/violations.h"
#include "config/nearest.h"

namespace intray::cli {
namespace {

using Command = std::function<int(Console&)>;

// The library shows a flag's default value in braces; people look for the form to type.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option_name(const CLI::Option* option, bool is_positional) const override {
    std::string name = CLI::Formatter::make_option_name(option, is_positional);
    if (const std::size_t at = name.find("{-}"); at != std::string::npos) name.replace(at, 3, "[=SECONDS]");
    return name;
  }
};

// Options that most commands take, on both sides of the command's name.
struct Common {
  std::string root;
  bool json = false;
  bool utc = false;
};

void add_root(CLI::App& app, Common& common) {
  app.add_option("--root", common.root, "The site's data directory")->type_name("DIR");
}
void add_common(CLI::App& app, Common& common) {
  add_root(app, common);
  app.add_flag("--json", common.json, "One JSON object a line");
  app.add_flag("--utc", common.utc, "Times in UTC");
}

CLI::App& add_command(CLI::App& app, const char* name, const char* what) {
  CLI::App& out = *app.add_subcommand(name, what);
  out.set_help_flag("-h,--help", "Print this help");
  out.footer("");
  return out;
}

class CommandLine {
 public:
  CommandLine() : app_("Job inbox for privileged effects", "intray") {
    app_.formatter(std::make_shared<HelpFormatter>());
    app_.set_help_flag("-h,--help", "Print this help");
    app_.set_version_flag("--version", "intray " INTRAY_VERSION, "Print the version");
    app_.footer("Each command has --help and a page, like intray-ls(1). Exit codes: 'intray explain' lists them.");
    app_.require_subcommand(0, 1);
    add_common(app_, common_);
    init();
    submit();
    ls();
    show();
    log();
    explain();
    violations();
    config();
    doctor();
  }

  int run(int argc, char** argv, Console& console) {
    try {
      app_.parse(argc, argv);
    } catch (const CLI::Success& asked) {  // help or version
      return app_.exit(asked, console.out, console.err);
    } catch (const CLI::ParseError& error) {
      return usage(console, error);
    }
    console.json = common_.json;
    console.utc = common_.utc;
    if (command_) return command_(console);
    console.err << app_.help();
    return kUsage;
  }

 private:
  // The innermost command that was named.
  const CLI::App& named() const {
    const CLI::App* at = &app_;
    while (!at->get_subcommands().empty()) at = at->get_subcommands().front();
    return *at;
  }

  std::vector<std::string> command_names() const {
    std::vector<std::string> out;
    for (const CLI::App* command : app_.get_subcommands({})) out.push_back(command->get_name());
    return out;
  }

  // "intray config check": the command as it was typed.
  std::string typed() const {
    std::string out;
    for (const CLI::App* at = &named(); at != nullptr; at = at->get_parent())
      out.insert(0, out.empty() ? at->get_name() : at->get_name() + " ");
    return out;
  }

  // What may stand behind the command that was named: its commands, or its options.
  std::vector<std::string> expected(bool options) const {
    std::vector<std::string> out;
    if (options) {
      for (const CLI::Option* option : named().get_options())
        for (const std::string& name : option->get_lnames()) out.push_back("--" + name);
    } else {
      for (const CLI::App* command : named().get_subcommands({})) out.push_back(command->get_name());
    }
    return out;
  }

  int usage(Console& console, const CLI::ParseError& error) const {
    std::string text = base::escape(error.what());
    if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
      std::string word;
      for (const CLI::App* at = &named(); at != nullptr && word.empty(); at = at->get_parent())
        if (const std::vector<std::string> extra = at->remaining(); !extra.empty()) word = extra.front();
      const bool option = word.starts_with("-");
      const std::vector<std::string> names = expected(option);
      const std::vector<std::string_view> known(names.begin(), names.end());
      const auto guess = config::nearest(word, known);
      text = base::escape(word) +
             (option          ? ": no such option"
              : names.empty() ? ": one argument too many"
                              : ": no such command") +
             (guess ? "; did you mean " + std::string(*guess) + "?" : "");
    } else if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
      const std::vector<std::string> names = expected(false);
      text = names.empty() ? text : "what? " + typed() + " " + names.front();
    }
    complain(console, text + "; see '" + typed() + " --help'");
    return kUsage;
  }

  void init() {
    CLI::App& c = add_command(app_, "init", "Make a site: directories, settings, lease policy");
    add_root(c, common_);
    c.add_flag("--json", common_.json, "One JSON object a line");
    c.add_flag("--user-mode", init_.user_mode, "Everything under --root, for this one user");
    c.add_option("--config-dir", init_.config_dir, "Where the settings go")->type_name("DIR");
    c.add_option("--receiver", init_.receiver, "The receiver: https://HOST[:PORT]")->type_name("URL");
    c.add_option("--credential", init_.credential, "File with the receiver's bearer credential")->type_name("FILE");
    c.add_option("--ca-file", init_.ca_file, "Certificates that may sign for the receiver")->type_name("FILE");
    c.add_option("--mirror", init_.mirror, "The bare git repository")->type_name("DIR");
    c.add_option("--branch", init_.branches, "A branch with authority; may be repeated")
        ->type_name("NAME")
        ->allow_extra_args(false);
    c.add_option("--tenant", init_.tenant, "Tenant of the executor's leases (default main)")->type_name("NAME");
    c.add_option("--namespace", init_.site_namespace, "instance/tenant/environment/revision")->type_name("NAMESPACE");
    c.add_option("--requester", init_.requesters, "A user whose jobs are taken; may be repeated")
        ->type_name("USER")
        ->allow_extra_args(false);
    c.add_option("--set", init_.set, "Any setting of save.toml; may be repeated")
        ->type_name("KEY=VALUE")
        ->allow_extra_args(false);
    c.callback([this] {
      init_.root = common_.root;
      command_ = [this](Console& console) { return run_init(console, init_); };
    });
  }

  void add_submit(CLI::App& c) {
    add_root(c, common_);
    SubmitOptions& o = save_.common;
    c.add_flag("--json", common_.json, "One JSON object a line");
    c.add_flag("--batch", o.batch, "Sync once per 1,000 jobs, not for each");
    c.add_flag("--dry-run", o.dry_run, "Print the canonical jobs and hand nothing over");
    c.add_flag("--force", o.force, "Hand over what our own checks refuse too");
    // A flag with a value takes it only behind an equals sign, so that a file name is never taken for seconds.
    c.add_flag("--wait{-}", wait_, "Wait for the outcome, without SECONDS as long as it takes");
  }

  void submit() {
    CLI::App& c = add_command(app_, "submit", "Hand over jobs");
    add_submit(c);
    c.add_option("FILE", files_, "Job files; .ndjson and .jsonl hold one job a line, - is standard input")
        ->type_name("");
    c.require_subcommand(0, 1);
    CLI::App& save = add_command(c, "save", "Save notes of a git repository");
    add_submit(save);
    save.add_option("--repo", save_.repository, "The git repository (default: the site's mirror)")->type_name("DIR");
    save.add_option("--commit", save_.commit, "A commit: id, branch, HEAD")->type_name("COMMIT")->capture_default_str();
    save.add_option("--path", save_.paths, "A note's path in the repository; may be repeated")
        ->type_name("PATH")
        ->allow_extra_args(false);
    save.add_flag("--all", save_.all, "Every note of the commit; implies --batch");
    save.add_option("--object", save_.object_id, "Claim this object id")->type_name("ID");
    save.add_option("--mission", save_.mission, "Mission id (default: a new one)")->type_name("ID");
    save.add_option("--idempotency-key", save_.idempotency_key, "Key of this request (default: a new one)")
        ->type_name("KEY");
    save.add_option("--branch", save_.branches, "A branch with authority, in place of the site's; may be repeated")
        ->type_name("NAME")
        ->allow_extra_args(false);
    save.add_option("--vault-root", save_.vault_root, "In place of the site's vault.root")->type_name("PATH");
    save.add_option("--prefix", save_.prefix, "In place of the site's git.prefix")->type_name("PATH");
    save.callback([this] { command_ = [this](Console& console) { return start_submit(console, true); }; });
    // The outer command's callback runs after the inner one's, so it must not undo it.
    c.callback([this] {
      if (!command_) command_ = [this](Console& console) { return start_submit(console, false); };
    });
  }

  int start_submit(Console& console, bool save) {
    SubmitOptions& o = save_.common;
    o.root = common_.root;
    o.wait = !wait_.empty();
    if (wait_ != "-") o.wait_for = wait_;
    if (o.wait && wait_ != "-" && !parse_wait(wait_)) {
      complain(console, "--wait=" + base::escape(wait_) + ": give seconds, or a duration like 90s or 5m");
      return kUsage;
    }
    if (o.wait && o.dry_run) {
      complain(console, "--wait and --dry-run exclude each other: nothing is handed over");
      return kUsage;
    }
    if (save) {
      o.batch = o.batch || save_.all;
      return run_submit_save(console, save_);
    }
    if (files_.empty()) {
      complain(console, "what? 'intray submit save …', job files, or - for standard input; see 'intray submit --help'");
      return kUsage;
    }
    return run_submit_files(console, o, files_, std::cin);
  }

  void ls() {
    CLI::App& c = add_command(app_, "ls", "List what waits, runs and needs a person");
    add_common(c, common_);
    c.add_option("WHAT", ls_.words,
                 "save or delete, and states: NEW READY CLAIMED EXECUTING RETRYABLE SUCCEEDED FAILED REJECTED UNKNOWN")
        ->type_name("");
    c.add_flag("-a,--all", ls_.all, "Ended jobs too");
    c.add_flag("-l,--long", ls_.details, "Attempts, worker, whole ids, object");
    c.add_flag("-t", ls_.newest_first, "Newest first");
    c.add_flag("-r,--reverse", ls_.reverse, "The other way round");
    c.add_flag("-1", ls_.ids_only, "Job ids alone, one a line");
    c.add_option("--limit", ls_.limit, "At most so many of each kind")
        ->type_name("N")
        ->check(CLI::NonNegativeNumber.description(""));
    c.callback([this] {
      ls_.root = common_.root;
      command_ = [this](Console& console) { return run_ls(console, ls_); };
    });
  }

  void show() {
    CLI::App& c = add_command(app_, "show", "Everything known of one job");
    add_common(c, common_);
    c.add_option("JOB", job_, "The job's id, or enough of its beginning")->required()->type_name("");
    c.callback([this] { command_ = [this](Console& console) { return run_show(console, common_.root, job_); }; });
  }

  void log() {
    CLI::App& c = add_command(app_, "log", "The audit trail, of one job or of all");
    add_common(c, common_);
    c.add_option("JOB", log_.job, "The job's id, or enough of its beginning")->type_name("");
    c.add_flag("-f,--follow", log_.follow, "Go on with what happens from now");
    c.callback([this] {
      log_.root = common_.root;
      command_ = [this](Console& console) { return run_log(console, log_); };
    });
  }

  void violations() {
    CLI::App& c = add_command(app_, "violations", "Processes that the kernel killed for a forbidden system call");
    c.add_option("--within", within_seconds_, "only of the last so many seconds")
        ->type_name("SECONDS")
        ->check(CLI::Range(1, 1'000'000'000));
    add_common(c, common_);
    c.callback([this] {
      command_ = [this](Console& console) {
        ViolationsOptions options;
        if (within_seconds_ > 0) options.within = std::chrono::seconds(within_seconds_);
        return run_violations(console, options);
      };
    });
  }

  void explain() {
    CLI::App& c = add_command(app_, "explain", "A code in plain words");
    c.add_flag("--json", common_.json, "One JSON object a line");
    c.add_option("CODE", word_, "A reason, result, state or exit code; without, all are listed")->type_name("");
    c.callback(
        [this] { command_ = [this](Console& console) { return run_explain(console, word_, command_names()); }; });
  }

  void config() {
    CLI::App& c = add_command(app_, "config", "The settings");
    c.require_subcommand(1);
    CLI::App& check = add_command(c, "check", "Every setting with its value, default and source");
    add_root(check, common_);
    check.add_flag("--json", common_.json, "One JSON object a line");
    check.add_option("FILE", file_, "A settings file (default: the site's)")->type_name("");
    check.callback(
        [this] { command_ = [this](Console& console) { return run_config_check(console, common_.root, file_); }; });
  }

  void doctor() {
    CLI::App& c = add_command(app_, "doctor", "Prove the boundary between users on this machine");
    add_root(c, common_);
    c.add_flag("--json", common_.json, "One JSON object a line");
    c.callback([this] { command_ = [this](Console& console) { return run_doctor(console, common_.root); }; });
  }

  CLI::App app_;
  Common common_;
  Command command_;
  InitOptions init_;
  SubmitSaveOptions save_;
  std::string wait_;
  std::vector<std::string> files_;
  LsOptions ls_;
  LogOptions log_;
  std::string job_;
  std::string word_;
  std::int64_t within_seconds_ = 0;
  std::string file_;
};

}  // namespace

int run(int argc, char** argv) {
  base::init_crypto();
  const base::SystemClock clock;
  Console console = standard_console(clock);
  CommandLine line;
  const int code = line.run(argc, argv, console);
  console.out.flush();
  // A reader that went away (a pager, head) is no failure of ours; a full disk is.
  if (code == kDone && !console.out) return kTryAgain;
  return code;
}

}  // namespace intray::cli
