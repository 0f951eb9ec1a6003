#include "cli/submit_files.h"

#include <fstream>
#include <istream>

#include "base/escape.h"
#include "cli/exit_code.h"
#include "cli/site.h"
#include "client/job.h"
#include "sys/dir.h"

namespace intray::cli {
namespace {

using model::JobKind;
using model::Reason;

using client::kJobTextBytesMax;

// A line without its newline; false at the end. A longer one comes as its first bytes, one more than allowed.
bool read_line(std::istream& in, std::string& line) {
  line.clear();
  std::streambuf* buffer = in.rdbuf();
  bool any = false;
  for (int c = buffer->sbumpc(); c != std::char_traits<char>::eof(); c = buffer->sbumpc()) {
    any = true;
    if (c == '\n') return true;
    if (line.size() <= kJobTextBytesMax) line += static_cast<char>(c);
  }
  return any;
}

class Submission {
 public:
  Submission(Console& console, const Site& site, Sender& sender, bool force)
      : console_(console), sender_(sender), force_(force) {
    const auto rules_of = [&](JobKind kind) {
      const auto settings = settings_of(site, kind);
      model::JobRules plain;
      plain.kind = kind;
      return settings ? settings->job_rules() : plain;
    };
    save_rules_ = rules_of(JobKind::kSave);
    delete_rules_ = rules_of(JobKind::kDelete);
  }

  void one(std::string_view text, const std::string& label) {
    if (text.size() > kJobTextBytesMax)
      return sender_.refuse(label, model::to_word(Reason::kOversized),
                            "more than " + std::to_string(kJobTextBytesMax) + " bytes");
    client::Reading read = client::read_text(text, save_rules_, delete_rules_, console_.clock.wall());
    if (!read.job || (read.rejection && !force_))
      return sender_.refuse(label, model::to_word(read.rejection->reason), read.rejection->detail);
    sender_.send(read.job->kind, {.name = read.job->name, .bytes = std::move(read.job->bytes), .label = label});
  }

  void lines(std::istream& in, const std::string& label) {
    std::string line;
    for (std::int64_t number = 1; read_line(in, line); ++number)
      if (line.find_first_not_of(" \t\r") != std::string::npos) one(line, label + ":" + std::to_string(number));
  }

 private:
  Console& console_;
  Sender& sender_;
  bool force_;
  model::JobRules save_rules_;
  model::JobRules delete_rules_;
};

bool holds_lines(const std::string& file) { return file.ends_with(".ndjson") || file.ends_with(".jsonl"); }

}  // namespace

int run_submit_files(Console& console, const SubmitOptions& options, const std::vector<std::string>& files,
                     std::istream& standard_input) {
  const auto site = find_site(options.root);
  if (!site) {
    complain(console, site.error());
    return kNo;
  }
  Sender sender(console, options, site->root, static_cast<std::int64_t>(files.size() > 1 ? files.size() : 0));
  Submission submission(console, *site, sender, options.force);
  int code = kDone;
  if (!sender.user_may(settings_of(*site, JobKind::kSave))) return sender.finish();
  for (const std::string& file : files) {
    const std::string label = file == "-" ? "standard input" : base::escape(file);
    if (file == "-") {
      submission.lines(standard_input, label);
    } else if (holds_lines(file)) {
      std::ifstream in(file, std::ios::binary);
      if (in) {
        submission.lines(in, label);
      } else {
        complain(console, label + ": can't be read");
        code = kNo;
      }
    } else if (const auto text = sys::read_file(file, kJobTextBytesMax)) {
      submission.one(*text, label);
    } else {
      complain(console, text.error());
      code = kNo;
    }
  }
  const int sent = sender.finish();
  return sent != kDone ? sent : code;
}

}  // namespace intray::cli
