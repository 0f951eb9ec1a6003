// Purpose:    the eight gates of a SAVE, as data, in order: what must hold before anything may be sent.
// Process:    intray-save, while the job is CLAIMED; gate 8 again right before the attempt is recorded.
// Trust:      nothing of the job is believed: everything is recomputed from git.
// Thread use: one thread.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "ledger/types.h"
#include "source/source.h"

namespace intray::executor::save {

struct GateRules {
  std::string vault_root;
  std::string prefix;  // git.prefix
  source::NoteRules note;
  bool historical = false;
};

// What the gates found out about a job: filled gate by gate, complete when all hold.
struct Findings {
  std::string repository_path;
  source::BlobHex blob_id;
  std::string content;
  base::Sha256 content_sha256;
};

struct GateFailure {
  int gate = 0;             // 1 to 8
  std::string_view name;    // "COMMIT_EXISTS", …
  source::Refusal refusal;  // SOURCE_UNAVAILABLE: the job waits; else REJECTED
};

// What was last applied to the job's object or path, as the ledger knows it (gate 8 of a historical site).
struct LastApplied {
  std::string commit;
  base::Sha256 content_sha256;
};

class Gates {
 public:
  Gates(source::Source& source, const source::ContentRules& content, GateRules rules);
  // All eight, in order; stops at the first that fails.
  std::expected<Findings, GateFailure> evaluate(const ledger::JobFacts& job, std::string_view own_credential,
                                                const std::optional<LastApplied>& last) const;
  // Gate 8 alone, against the heads of the last refresh().
  std::optional<GateFailure> recheck_head(const ledger::JobFacts& job, const Findings& findings,
                                          const std::optional<LastApplied>& last) const;
  // Names of the gates, in order: docs and `intray explain` quote them.
  static std::array<std::string_view, 8> names();

 private:
  source::Source& source_;
  const source::ContentRules& content_;
  GateRules rules_;
};

}  // namespace intray::executor::save
