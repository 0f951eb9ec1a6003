#include "executor/confinement.h"

#include <fmt/format.h>

#include <utility>

#include "base/ids.h"
#include "inbox/names.h"
#include "model/canonical_writer.h"
#include "sys/process.h"

namespace intray::executor {
namespace {

// A credential is read once, before; where it lies beside a file that is read again, a taken-over executor could read
// it too, and send it where only its holder may.
base::Result<void> check_apart(const std::string& directory, const std::string& credential) {
  if (!credential.starts_with(directory + "/")) return {};
  return base::fail(base::ErrorCode::kInvalid,
                    fmt::format("receiver.credential_file {} lies below {}, which stays readable while the executor "
                                "works, because of missions.file: give the missions a directory of their own",
                                credential, directory));
}

std::string directory_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

}  // namespace

Confinement::Confinement(const config::Settings& settings, model::JobKind kind, const inbox::Inbox& inbox,
                         const sys::EventLoop& loop, int channel, std::string settings_file,
                         std::string foreign_program, MakePlan make_plan)
    : settings_(settings),
      kind_(kind),
      inbox_(inbox),
      loop_(loop),
      channel_(channel),
      settings_file_(std::move(settings_file)),
      foreign_program_(std::move(foreign_program)),
      make_plan_(make_plan) {}

base::Result<confine::Plan> Confinement::plan(base::Slot slot) const {
  confine::ExecutorPlaces places{.tmp = inbox_.tmp,
                                 .fresh = inbox_.fresh,
                                 .cur = inbox_.cur,
                                 .slot = inbox_.slots.at(static_cast<std::size_t>(slot.value)),
                                 .done = inbox_.done,
                                 .failed = inbox_.failed,
                                 .rejected = inbox_.rejected,
                                 .unknown = inbox_.unknown,
                                 .receipts = inbox_.receipts,
                                 .file_mode = inbox_.file_mode,
                                 .mirror = settings_.source.mirror,
                                 .read_directories = {},
                                 .epoll = loop_.wait_descriptor(),
                                 .timer = loop_.timer_descriptor(),
                                 .channel = channel_};
  if (!settings_.missions_file.empty()) {
    const std::string directory = directory_of(settings_.missions_file);
    INTRAY_TRY(check_apart(directory, settings_.receiver.credential_file));
    places.read_directories.push_back(directory);
  }
  confine::Plan out = INTRAY_TRY(make_plan_(places));
  out.allow_reduced = settings_.allow_reduced;
  return out;
}

confine::SelfTestTargets Confinement::targets(base::Slot slot, std::string file_name) const {
  return {.foreign_file = settings_file_,
          .foreign_program = foreign_program_,
          .slot = &inbox_.slots.at(static_cast<std::size_t>(slot.value)),
          .file_name = std::move(file_name),
          .foreign_directory = directory_of(inbox::ledger_path(settings_.root, kind_))};
}

void Confinement::prove_denials() {
  // Whose slot it will be is not known yet: a file of our own name in the first one disturbs nobody.
  const base::Slot first{0};
  const std::string name = inbox::self_test_name_of_process(sys::process_id());
  for (confine::Finding& finding : confine::prove_denials([&] { return plan(first); }, targets(first, name)))
    add(std::move(finding));
}

base::Result<void> Confinement::lock(base::Slot slot) {
  // What prove_moves() will move. Left over by a process that died in between, it is replaced.
  const std::string name = inbox::self_test_name(slot);
  for (const sys::Dir* dir : {&inbox_.fresh, &inbox_.cur, &inbox_.slots.at(static_cast<std::size_t>(slot.value))})
    static_cast<void>(dir->unlink(name));
  moved_name_ = name;
  auto made = inbox_.fresh.create(moved_name_, inbox_.file_mode);
  if (!made && made.error().code == base::ErrorCode::kExists) {
    // A requester's directory of that name can't be removed, and must not keep an executor from starting. No requester
    // knows the next name in time, and none can remove it: new/ is sticky.
    moved_name_ += "-" + base::WorkerId::generate().str();
    made = inbox_.fresh.create(moved_name_, inbox_.file_mode);
  }
  INTRAY_TRY(std::move(made));
  auto names = plan(slot);
  auto locked = names ? confine::lock_down(std::move(*names))
                      : base::Result<confine::Status>(std::unexpected(std::move(names).error()));
  if (!locked) {
    static_cast<void>(inbox_.fresh.unlink(moved_name_));
    return std::unexpected(std::move(locked).error());
  }
  status_ = std::move(*locked);
  return {};
}

void Confinement::prove_works(base::Slot slot) {
  for (confine::Finding& finding : confine::look_around(targets(slot, {}), status_.level != confine::Level::kNone))
    add(std::move(finding));
  prove_moves(slot);
}

void Confinement::prove_moves(base::Slot slot) {
  const std::string& name = moved_name_;
  const sys::Dir& lease = inbox_.slots.at(static_cast<std::size_t>(slot.value));
  const auto moves = [&]() -> base::Result<void> {
    INTRAY_TRY(inbox_.fresh.move(name, lease, name));
    INTRAY_TRY(lease.move(name, inbox_.cur, name));
    INTRAY_TRY(inbox_.cur.move(name, lease, name));
    return lease.unlink(name);
  };
  const auto moved = moves();
  add({"claim", moved.has_value(), moved ? "new/ to lease/ to cur/ and back" : moved.error().what});
}

std::string Confinement::failures() const {
  std::string out;
  for (const confine::Finding& finding : findings_)
    if (!finding.passed) out += (out.empty() ? "" : "; ") + finding.name + " (" + finding.how + ")";
  return out;
}

bool Confinement::only_failed(std::string_view name) const {
  bool failed = false;
  for (const confine::Finding& finding : findings_) {
    if (finding.passed) continue;
    if (finding.name != name) return false;
    failed = true;
  }
  return failed;
}

std::string Confinement::report() const {
  std::string checks = "[";
  for (const confine::Finding& finding : findings_) {
    model::CanonicalWriter one(128);
    one.text("how", finding.how).text("name", finding.name).text("result", finding.passed ? "pass" : "fail");
    checks += (checks.size() > 1 ? "," : "") + one.finish();
  }
  model::CanonicalWriter out(1024);
  out.raw("checks", checks + "]")
      .number("landlock_abi", status_.landlock_abi)
      .text("status", confine::to_word(status_.level));
  return out.finish();
}

}  // namespace intray::executor
