#include "executor/save/gates.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/escape.h"
#include "model/effect.h"
#include "model/excerpt.h"
#include "model/vault_path.h"

namespace intray::executor::save {
namespace {

using model::Reason;
using source::Refusal;
using Verdict = std::optional<Refusal>;  // nullopt: the gate holds

struct Context {
  source::Source& source;
  const source::ContentRules& content_rules;
  const GateRules& rules;
  const ledger::JobFacts& job;
  std::string_view own_credential;
  const std::optional<LastApplied>& last;
  Findings& found;
  Verdict too_large;       // found out in gate 3, unread; gate 6 says it
  source::NoteFacts note;  // from gate 4 on
};

Verdict refusal(Reason reason, std::string detail) { return Refusal{reason, std::move(detail)}; }

Verdict commit_exists(Context& c) {
  if (auto answer = c.source.commit_exists(c.job.commit); !answer) return answer.error();
  return std::nullopt;
}

Verdict commit_on_branch(Context& c) {
  if (auto answer = c.source.on_branch(c.job.commit); !answer) return answer.error();
  return std::nullopt;
}

// The repository path of a vault path; nullopt where it is not below the vault root (admission has checked that
// before).
std::optional<std::string> repository_path(std::string_view vault_path, const GateRules& rules) {
  const std::string root = rules.vault_root + "/";
  if (!vault_path.starts_with(root) || vault_path.size() == root.size()) return std::nullopt;
  const std::string below(model::below_root(vault_path, rules.vault_root));
  return rules.prefix.empty() ? below : rules.prefix + "/" + below;
}

// A blob over the limit is there, so this gate holds; it is not read, and what gates 4 and 5 would read it for can't be
// judged: they pass it on to gate 6.
Verdict object_in_tree(Context& c) {
  auto path = repository_path(c.job.vault_path, c.rules);
  if (!path)
    return refusal(Reason::kUnsafePath,
                   fmt::format("{} is not below the vault root {}", model::excerpt(c.job.vault_path),
                               model::excerpt(c.rules.vault_root)));
  c.found.repository_path = std::move(*path);
  auto blob = c.source.find_blob(c.job.commit, c.found.repository_path);
  if (!blob && blob.error().reason != Reason::kContentTooLarge) return blob.error();
  auto other = c.source.colliding_path(c.job.commit, c.found.repository_path);
  if (!other) return other.error();
  if (*other)
    return refusal(Reason::kPathCollision,
                   fmt::format("a disk that ignores case takes {} for '{}', which commit {} has too",
                               model::excerpt(c.found.repository_path), base::escape(**other), c.job.commit));
  if (!blob) {
    c.too_large = blob.error();
    return std::nullopt;
  }
  c.found.blob_id = std::move(*blob);
  auto content = c.source.read_blob(c.found.blob_id);
  if (!content) return content.error();
  c.found.content = std::move(content->content);
  c.note = source::describe_note(c.found.content, c.found.repository_path, c.rules.note);
  c.found.content_sha256 = c.note.content_sha256;
  return std::nullopt;
}

Verdict object_id_matches(Context& c) {
  if (c.too_large || c.note.object_id == c.job.object_id) return std::nullopt;
  const std::string expected = "the job names object " + model::excerpt(c.job.object_id);
  if (c.note.object_id.empty())
    return refusal(Reason::kObjectIdMismatch,
                   fmt::format("{}, the note's front matter has no readable object id under {}", expected,
                               model::excerpt(c.rules.note.id_key)));
  return refusal(Reason::kObjectIdMismatch,
                 fmt::format("{}, the {} says '{}'", expected,
                             c.rules.note.id_from_front_matter ? "note's front matter" : "note's path",
                             base::escape(c.note.object_id)));
}

Verdict state_matches(Context& c) {
  if (c.too_large || c.note.state == c.job.expected_state) return std::nullopt;
  return refusal(Reason::kStateMismatch,
                 fmt::format("the job expects the state {}, the note's is '{}' (front matter key {})",
                             model::excerpt(c.job.expected_state), base::escape(c.note.state),
                             model::excerpt(c.rules.note.state_key)));
}

Verdict content_allowed(Context& c) {
  if (c.too_large) return c.too_large;
  return c.content_rules.check(c.found.content, c.own_credential);
}

Verdict provenance_matches(Context& c) {
  const base::Sha256 computed = model::provenance_hash(c.job.commit, c.found.content_sha256, c.note.object_id,
                                                       c.found.repository_path, c.note.state);
  if (computed == c.job.provenance_hash) return std::nullopt;
  return refusal(Reason::kProvenanceMismatch,
                 fmt::format("the job claims {}, git's data give {} (content {})", c.job.provenance_hash.hex(),
                             computed.hex(), c.found.content_sha256.hex()));
}

// Three rules, in this order: git has not deleted the path; the blob is the one at a head, or the site takes older
// ones; what was last applied is not newer by ancestry. The last holds for a blob at a head too where it would change
// something: a job that lost the race against a newer one must not undo it.
Verdict not_stale(Context& c) {
  const auto stale = [](std::string detail) { return refusal(Reason::kStaleSource, std::move(detail)); };
  auto heads = c.source.blobs_at_heads(c.found.repository_path);
  if (!heads) return heads.error();
  const std::string path = model::excerpt(c.found.repository_path);
  if (heads->empty()) return stale(fmt::format("{} is no file at the head of any configured branch (any more)", path));
  const bool at_head = std::ranges::find(*heads, c.found.blob_id) != heads->end();
  if (!at_head && !c.rules.historical)
    return stale(fmt::format("blob {} of {} in commit {} is not the one at the head, {}", c.found.blob_id, path,
                             c.job.commit, heads->front()));
  if (!c.last || (at_head && c.last->content_sha256 == c.found.content_sha256)) return std::nullopt;
  auto older = c.source.is_strict_ancestor(c.job.commit, c.last->commit);
  if (!older) return older.error();
  if (!*older) return std::nullopt;
  return stale(fmt::format("commit {} is an ancestor of {}, from which {} was last applied", c.job.commit,
                           c.last->commit, path));
}

struct Gate {
  int number;
  std::string_view name;
  Verdict (*judge)(Context&);
};

constexpr std::array<Gate, 8> kGates{{
    {1, "COMMIT_EXISTS", commit_exists},
    {2, "COMMIT_ON_BRANCH", commit_on_branch},
    {3, "OBJECT_IN_TREE", object_in_tree},
    {4, "OBJECT_ID", object_id_matches},
    {5, "STATE", state_matches},
    {6, "CONTENT", content_allowed},
    {7, "PROVENANCE", provenance_matches},
    {8, "NOT_STALE", not_stale},
}};

std::optional<GateFailure> judge(const Gate& gate, Context& context) {
  Verdict verdict = gate.judge(context);
  if (!verdict) return std::nullopt;
  return GateFailure{gate.number, gate.name, std::move(*verdict)};
}

}  // namespace

Gates::Gates(source::Source& source, const source::ContentRules& content, GateRules rules)
    : source_(source), content_(content), rules_(std::move(rules)) {
  while (rules_.prefix.ends_with('/')) rules_.prefix.pop_back();
}

std::expected<Findings, GateFailure> Gates::evaluate(const ledger::JobFacts& job, std::string_view own_credential,
                                                     const std::optional<LastApplied>& last) const {
  Findings found;
  Context context{source_, content_, rules_, job, own_credential, last, found, {}, {}};
  for (const Gate& gate : kGates)
    if (auto failure = judge(gate, context)) return std::unexpected(std::move(*failure));
  return found;
}

std::optional<GateFailure> Gates::recheck_head(const ledger::JobFacts& job, const Findings& findings,
                                               const std::optional<LastApplied>& last) const {
  Findings found{findings.repository_path, findings.blob_id, {}, findings.content_sha256};  // gate 8 reads no content
  Context context{source_, content_, rules_, job, {}, last, found, {}, {}};
  return judge(kGates.back(), context);
}

std::array<std::string_view, 8> Gates::names() {
  std::array<std::string_view, 8> out;
  std::ranges::transform(kGates, out.begin(), &Gate::name);
  return out;
}

}  // namespace intray::executor::save
