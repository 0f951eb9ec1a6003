#include "cli/sender.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "base/escape.h"
#include "cli/exit_code.h"
#include "cli/json_line.h"
#include "cli/site.h"
#include "cli/text.h"
#include "client/hand_off.h"
#include "sys/process.h"

namespace intray::cli {
namespace {

using base::ErrorCode;

constexpr std::size_t kBatchJobs = 1'000;  // share one sync of new/; what a client that dies has not been told about

int code_of_hand_over(const base::Error& error) {
  switch (error.code) {
    case ErrorCode::kDenied: return kBlocked;
    case ErrorCode::kInvalid: return kNo;
    default: return kTryAgain;
  }
}

}  // namespace

Sender::Sender(Console& console, const SubmitOptions& options, std::string root, std::int64_t total)
    : console_(console), options_(options), root_(std::move(root)), progress_(console, "handed over", total) {}

Sender::Box& Sender::box_of(model::JobKind kind) {
  const auto found = std::ranges::find(boxes_, kind, &Box::kind);
  if (found != boxes_.end()) return *found;
  Box& box = boxes_.emplace_back(Box{.kind = kind, .box = std::nullopt, .failed = false, .pending = {}, .wait = {}});
  if (options_.dry_run) return box;
  auto opened = inbox::DropBox::open(root_, kind);
  if (opened) {
    box.box = std::move(*opened);
    return box;
  }
  box.failed = true;
  base::Error error = std::move(opened).error();
  if (error.code == ErrorCode::kNotFound)
    error.what += "; there is no " + std::string(model::to_word(kind)) +
                  " inbox at this site ('intray init' makes one, --root names another)";
  if (error.code == ErrorCode::kDenied) error.what += "; members of the group intray-rq may hand jobs over";
  complain(console_, error);
  code_ = std::max(code_, error.code == ErrorCode::kDenied ? kBlocked : kUnreadable);
  return box;
}

bool Sender::user_may(const base::Result<config::Settings>& settings) {
  if (!settings || may_request(*settings) || options_.dry_run || options_.force) return true;
  const std::uint32_t uid = sys::effective_uid();
  complain(console_, "BAD_FILE_OWNER: this user (" + sys::user_name(uid).value_or("uid") + ", " + std::to_string(uid) +
                         ") is not among the site's requesters; become one of them, or add it to requesters.uids");
  code_ = std::max(code_, kBlocked);
  return false;
}

void Sender::send(model::JobKind kind, Outgoing job) {
  Box& box = box_of(kind);
  if (box.failed) return;
  if (options_.dry_run) {
    console_.out << job.bytes << '\n';
    return;
  }
  box.pending.push_back(std::move(job));
  if (!options_.batch || box.pending.size() == kBatchJobs) flush(box);
}

void Sender::refuse(const std::string& label, std::string_view reason, const std::string& detail) {
  ++refused_;
  code_ = std::max(code_, kNo);
  progress_.clear();
  complain(console_, label + ": " + std::string(reason) + ": " + detail);
  if (console_.json)
    print_json(console_,
               {{"job_id", nullptr}, {"submitted", false}, {"label", label}, {"reason", reason}, {"detail", detail}});
}

void Sender::flush(Box& box) {
  std::vector<inbox::Parcel> parcels;
  parcels.reserve(box.pending.size());
  for (Outgoing& job : box.pending) parcels.push_back({job.name, job.bytes});
  const auto results = client::hand_over(*box.box, parcels);
  progress_.clear();
  for (std::size_t i = 0; i < box.pending.size(); ++i) report(box, box.pending[i], results[i]);
  console_.out.flush();  // told only now, and told before anything else can go wrong
  box.pending.clear();
  progress_.update(sent_);
}

void Sender::report(Box& box, const Outgoing& job, const base::Result<void>& result) {
  const std::string id = job.name.job_id.str();
  const bool known = client::hand_off_of(result) == client::HandOff::kAlready;
  const base::Sha256 sha256 = base::sha256(job.bytes);
  if (!result && !known) {
    code_ = std::max(code_, code_of_hand_over(result.error()));
    complain(console_, base::with_context(result.error(), job.label));
  } else {
    ++sent_;
    if (options_.wait) box.wait.add(job.name.job_id, sha256, job.name.created);
    if (known) complain(console_, job.label + ": already handed over as " + id);
  }
  if (console_.json) {
    print_json(console_, {{"job_id", id},
                          {"submitted", result.has_value() || known},
                          {"already", known},
                          {"label", job.label},
                          {"job_sha256", sha256.hex()},
                          {"reason", nullptr},
                          {"detail", result || known ? nlohmann::json(nullptr)
                                                     : nlohmann::json(base::escape(result.error().what))}});
  } else if (result || known) {
    console_.out << id << '\n';
  }
}

int Sender::finish() {
  for (Box& box : boxes_)
    if (!box.failed && !box.pending.empty()) flush(box);
  progress_.clear();
  if (refused_ > 0 && (sent_ > 0 || refused_ > 1))
    complain(console_, count(sent_, "job") + " handed over, " + with_commas(refused_) + " refused here");
  int waited = kDone;
  const auto limit = options_.wait_for.empty() ? std::nullopt : parse_wait(options_.wait_for);
  for (Box& box : boxes_)
    if (!box.wait.empty()) waited = worse_wait(waited, box.wait.run(console_, root_, box.kind, limit));
  return waited != kDone ? waited : code_;
}

}  // namespace intray::cli
