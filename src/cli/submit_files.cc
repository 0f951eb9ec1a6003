#include "cli/submit_files.h"

#include <fstream>
#include <istream>
#include <nlohmann/json.hpp>

#include "base/escape.h"
#include "cli/exit_code.h"
#include "cli/site.h"
#include "limits.h"
#include "model/canonical.h"
#include "sys/dir.h"

namespace intray::cli {
namespace {

using model::JobKind;
using model::Reason;

// The text may be pretty-printed; its canonical form must keep to the contract's limit.
constexpr std::size_t kJobTextBytesMax = 4 * limits::kJobFileBytesMax;

std::string text_member(const nlohmann::json& object, const char* name) {
  if (!object.is_object()) return {};
  const auto member = object.find(name);
  return member != object.end() && member->is_string() ? member->get<std::string>() : std::string();
}

template <class Parsed>
void take(ReadJob& out, const Parsed& parsed, const model::JobRules& rules, base::WallTime now) {
  if (!parsed) {
    out.rejection = parsed.error();
    return;
  }
  out.rejection = model::check_age(parsed->created_at, now, rules);
}

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
    ReadJob read = read_job(text, save_rules_, delete_rules_, console_.clock.wall());
    if (!read.job || (read.rejection && !force_))
      return sender_.refuse(label, model::to_word(read.rejection->reason), read.rejection->detail);
    read.job->label = label;
    sender_.send(read.kind, std::move(*read.job));
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

ReadJob read_job(std::string_view text, const model::JobRules& save_rules, const model::JobRules& delete_rules,
                 base::WallTime now) {
  ReadJob out;
  const auto parsed = model::parse_strict(text);
  if (!parsed) {
    out.rejection = model::Rejection{parsed.error().reason, parsed.error().detail, std::nullopt};
    return out;
  }
  Outgoing job{.name = {now, base::JobId::generate()}, .bytes = model::to_canonical(*parsed), .label = {}};
  // The name follows from the job, so that handing it over twice meets its own name.
  if (const auto id = base::JobId::parse(text_member(*parsed, "job_id"))) job.name.job_id = *id;
  if (const auto created = base::parse_rfc3339(text_member(*parsed, "created_at"))) job.name.created = *created;
  if (text_member(*parsed, "job_type") == model::job_type_of(JobKind::kDelete)) {
    out.kind = JobKind::kDelete;
    take(out, model::parse_delete_job(job.bytes, delete_rules), delete_rules, now);
  } else {
    take(out, model::parse_save_job(job.bytes, save_rules), save_rules, now);
  }
  out.job = std::move(job);
  return out;
}

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
