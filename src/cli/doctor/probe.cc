#include "cli/doctor/probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <map>

#include "base/escape.h"
#include "limits.h"
#include "sys/attempt.h"
#include "sys/dir.h"
#include "sys/machine.h"
#include "sys/process.h"

namespace intray::cli::doctor {
namespace {

using base::ErrorCode;

constexpr const char* kScratchName = ".doctor";
constexpr const char* kVictim = "/another-users-file";
constexpr std::uint32_t kScratchMode = 0755;

// Errnos by which a kernel or a security module says no. A read-only mount says it to everybody, which is a no too.
bool is_refusal(int error) { return error == EACCES || error == EPERM || error == EROFS; }

std::string words_of(int error) { return base::fail_errno(error, "").error().what.substr(2); }

// One try: what it is called in a reason, and the act itself.
struct Try {
  std::string name;
  std::function<sys::Attempt()> act;
};

bool is_socket(const std::string& path) {
  const auto info = sys::stat_path(path);
  return info && info->type == sys::FileType::kSocket;
}

bool belongs_to(const std::string& path, std::uint32_t uid) {
  const auto info = sys::stat_path(path);
  return info && info->uid == uid;
}

class Prober {
 public:
  explicit Prober(const Scene& scene) : scene_(scene) {}

  base::Result<std::vector<CellRow>> run() {
    if (scene_.root) INTRAY_TRY(prepare());
    std::vector<CellRow> out;
    for (const Row& row : kMatrix) {
      CellRow cells;
      for (const SubjectText& subject : kSubjectTexts)
        cells[static_cast<std::size_t>(subject.subject)] = cell(row, subject.subject);
      out.push_back(std::move(cells));
    }
    return out;
  }

 private:
  // Decoys of every user in the table, and folders like tmp/ and new/ with another user's file in them.
  base::Result<void> prepare() {
    std::vector<sys::Identity> targets{{.uid = 0, .gid = 0, .groups = {}}};
    for (const SubjectSet& set : scene_.subjects)
      if (!set.missing)
        for (const Person& person : set.people) targets.push_back(person.identity);
    if (scene_.user_mode && scene_.owners)
      targets.push_back({.uid = scene_.owners->executor_uid, .gid = scene_.owners->admin_gid, .groups = {}});
    for (const sys::Identity& identity : targets) {
      if (std::ranges::any_of(decoys_, [&](const sys::Decoy& d) { return d.uid() == identity.uid; })) continue;
      decoys_.push_back(INTRAY_TRY(sys::Decoy::start(identity)));
    }
    for (const Target target : {Target::kSaveDrop, Target::kDeleteDrop}) {
      const TargetSet& drop = scene_.of(target);
      if (drop.missing || drop.paths.empty()) continue;
      const std::string inbox = drop.paths.front().substr(0, drop.paths.front().rfind('/'));
      scratches_.push_back(INTRAY_TRY(Scratch::make(inbox)));
      for (const std::string& path : drop.paths) {
        const std::string like = scratches_.back().path() + path.substr(path.rfind('/'));
        if (auto made = sys::clone_directory(path, like); !made)
          clone_errors_[path] = made.error().what;
        else
          clones_[path] = like;
      }
    }
    return {};
  }

  std::vector<Try> tries_on_paths(const Row& row, const Person& person) {
    const TargetSet& target = scene_.of(row.target);
    std::vector<std::string> paths = target.paths;
    if (row.act == Act::kWrite) paths.insert(paths.end(), target.write_paths.begin(), target.write_paths.end());
    std::vector<Try> out;
    for (const std::string& path : paths) {
      if (out.size() >= limits::kProbePathsMax) break;
      if (row.target == Target::kSsh && belongs_to(path, person.identity.uid)) continue;
      const std::string name = base::escape(path);
      if (row.act == Act::kConnect || (row.act == Act::kRead && is_socket(path)))
        out.push_back({name, [path] { return sys::try_connect(path); }});
      else if (row.act == Act::kWrite)
        out.push_back({name, [path] { return sys::try_write(path); }});
      else
        out.push_back({name, [path] { return sys::try_read(path); }});
    }
    return out;
  }

  std::vector<Try> tries_to_remove(const Row& row) {
    std::vector<Try> out;
    for (const std::string& path : scene_.of(row.target).paths) {
      const auto clone = clones_.find(path);
      if (clone == clones_.end()) {
        out.push_back({base::escape(path), [] { return sys::Attempt{false, ENOTSUP}; }});
        continue;
      }
      const std::string victim = clone->second + kVictim;
      if (!sys::place_file(victim)) continue;
      out.push_back({"a folder like " + base::escape(path), [victim] { return sys::try_remove(victim); }});
    }
    return out;
  }

  std::vector<Try> tries_on_processes(const Row& row, const Person& person) {
    std::vector<Try> out;
    for (const sys::Decoy& decoy : decoys_) {
      if (decoy.uid() == person.identity.uid) continue;
      const int pid = decoy.pid();
      const std::string name = "a process of uid " + std::to_string(decoy.uid());
      if (row.act == Act::kSignal)
        out.push_back({name, [pid] { return sys::try_signal(pid); }});
      else
        out.push_back({name, [pid] { return sys::try_trace(pid); }});
    }
    return out;
  }

  std::vector<Try> tries(const Row& row, const Person& person) {
    switch (row.act) {
      case Act::kRead:
      case Act::kWrite:
      case Act::kConnect: return tries_on_paths(row, person);
      case Act::kRemoveOthers: return tries_to_remove(row);
      case Act::kMakeSocket: return {{"socket(AF_INET)", [] { return sys::try_tcp_socket(); }}};
      case Act::kSignal:
      case Act::kTrace: return tries_on_processes(row, person);
    }
    return {};
  }

  // A user's right to make sockets can't be taken away; its unit takes the network, and its filter the call.
  Cell network_of(const SubjectSet& subject) {
    Cell out;
    bool any = false;
    for (const Person& person : subject.people)
      for (const sys::ProcessFacts& process : sys::processes_of(person.identity.uid, limits::kProcessesMax)) {
        if (!process.name.starts_with("intray-save") && !process.name.starts_with("intray-delete")) continue;
        any = true;
        const bool filtered = process.seccomp_mode == 2 && process.no_new_privs;
        if (process.own_network || filtered) continue;
        out.status = Status::kFail;
        out.could = true;
        out.why = fmt::format("process {} ({}) shares the machine's network and has no seccomp filter", process.pid,
                              base::escape(process.name));
        return out;
      }
    if (any) return {.status = Status::kPass, .could = false, .why = {}};
    out.why = "it doesn't run now; while it runs, its network namespace and seccomp filter are looked at";
    return out;
  }

  Cell cell(const Row& row, Subject s) {
    const SubjectSet& subject = scene_.of(s);
    const TargetSet& target = scene_.of(row.target);
    // What isn't installed has nobody to keep out, whoever could not be tried.
    const bool not_installed = target.missing && target.missing->status == Status::kNotYet;
    const std::optional<Missing>& missing = subject.missing && !not_installed ? subject.missing : target.missing;
    if (missing) return {.status = missing->status, .could = std::nullopt, .why = missing->why};
    const Expect expect = expected(row, s);
    if (row.act == Act::kMakeSocket && expect == Expect::kNo && s != Subject::kStranger) return network_of(subject);
    if (!scene_.root && (row.act == Act::kRemoveOthers || row.act == Act::kSignal || row.act == Act::kTrace))
      return {.status = Status::kSkipped, .could = std::nullopt, .why = "only root can set this up"};
    Answers all;
    for (const Person& person : subject.people) {
      const std::vector<Try> things = tries(row, person);
      std::vector<std::function<sys::Attempt()>> acts;
      acts.reserve(things.size());
      for (const Try& thing : things) acts.push_back(thing.act);
      if (acts.empty()) continue;
      const auto answers = sys::try_as(person.identity, acts);
      if (!answers) return {.status = Status::kSkipped, .could = std::nullopt, .why = answers.error().what};
      for (std::size_t i = 0; i < things.size(); ++i) note(all, (*answers)[i], person.name + ": " + things[i].name);
    }
    return judge(expect, all, target.none);
  }

  static void note(Answers& all, const sys::Attempt& attempt, const std::string& what) {
    const auto first = [&](std::string& place) {
      if (place.empty()) place = attempt.done ? what : what + ": " + words_of(attempt.error);
    };
    if (attempt.done) {
      ++all.allowed;
      first(all.first_allowed);
    } else if (is_refusal(attempt.error)) {
      ++all.refused;
      first(all.first_refused);
    } else {
      ++all.unclear;
      first(all.first_unclear);
    }
  }

  const Scene& scene_;
  std::vector<sys::Decoy> decoys_;
  std::vector<Scratch> scratches_;
  std::map<std::string, std::string> clones_;
  std::map<std::string, std::string> clone_errors_;
};

// Everything we could have made there, by name: what a killed run left.
void clear(const std::string& path) {
  for (const char* const name : {"/tmp", "/new"}) {
    sys::remove_file(path + name + kVictim);
    sys::remove_directory(path + name);
  }
  if (const auto race = sys::Dir::open(path + "/race")) {
    const auto names = race->list();
    for (const std::string& name : names ? *names : std::vector<std::string>{})
      if (name.starts_with("from.") || name.starts_with("to.")) sys::remove_file(fmt::format("{}/race/{}", path, name));
    sys::remove_directory(path + "/race");
  }
}

}  // namespace

base::Result<Scratch> Scratch::make(const std::string& inbox) {
  const sys::Dir dir = INTRAY_TRY(sys::Dir::open(inbox));
  const std::string path = inbox + "/" + kScratchName;
  auto made = dir.make_subdir(kScratchName, kScratchMode);
  if (!made && made.error().code != ErrorCode::kExists) return std::unexpected(std::move(made).error());
  sys::Dir scratch = INTRAY_TRY(dir.open_subdir(kScratchName));
  if (auto locked = sys::lock_exclusive(scratch.fd()); !locked) {
    if (locked.error().code == ErrorCode::kBusy)
      return base::fail(ErrorCode::kBusy, path + ": another 'intray doctor' is at work here");
    return std::unexpected(std::move(locked).error());
  }
  INTRAY_TRY(sys::change_mode(scratch.fd(), kScratchMode));  // the umask may have narrowed it
  clear(path);
  return Scratch(path, std::move(scratch));
}

Scratch::Scratch(Scratch&& other) noexcept : path_(std::move(other.path_)), dir_(std::move(other.dir_)) {
  other.path_.clear();
}

Scratch::~Scratch() {
  if (path_.empty()) return;
  clear(path_);
  sys::remove_directory(path_);
}

Cell judge(Expect expect, const Answers& answers, const std::string& none) {
  Cell out;
  const int tried = answers.allowed + answers.refused + answers.unclear;
  if (tried == 0) {
    if (expect == Expect::kYes || none.empty()) return {Status::kSkipped, std::nullopt, "there is nothing to try yet"};
    return {Status::kPass, false, none};
  }
  if (expect == Expect::kNo && answers.allowed > 0)
    return {Status::kFail, true, "must be refused, and was allowed: " + answers.first_allowed};
  if (expect == Expect::kYes && answers.refused > 0)
    return {Status::kFail, false, "must be allowed, and was refused: " + answers.first_refused};
  if (answers.unclear > 0) return {Status::kSkipped, std::nullopt, "no clear answer: " + answers.first_unclear};
  return {Status::kPass, expect == Expect::kYes ? answers.refused == 0 : answers.allowed > 0, {}};
}

base::Result<std::vector<CellRow>> probe(const Scene& scene) { return Prober(scene).run(); }

}  // namespace intray::cli::doctor
