// A job file's bytes, as a SAVE executor reads them.
#include <array>
#include <string>

#include "base/utf8.h"
#include "limits.h"
#include "model/job.h"
#include "model/vault_path.h"
#include "target.h"

using namespace intray;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes = fuzz::text_of(data, size);
  for (const auto format : {model::ObjectFormat::kSha1, model::ObjectFormat::kSha256}) {
    model::JobRules rules;
    rules.object_format = format;
    const auto job = model::parse_save_job(bytes, rules);
    if (!job) {
      CHECK(!job.error().detail.empty() && base::is_utf8(job.error().detail));
      CHECK(fuzz::is_one_plain_line(job.error().detail));
      // A trusted id stands in the bytes as written.
      if (job.error().job_id) CHECK(bytes.find(job.error().job_id->str()) != std::string_view::npos);
      continue;
    }
    CHECK(bytes.size() <= limits::kJobFileBytesMax);
    CHECK(model::to_canonical(*job) == bytes);
    CHECK(!model::unsafe_path_rule(job->vault_path, rules.vault_root, rules.extensions));
    CHECK(model::is_object_id(job->object_id) && model::is_state_word(job->expected_state));
    CHECK(model::is_commit_id(job->source_commit, format));
    CHECK(base::parse_rfc3339(job->created_at_text) == job->created_at);
    CHECK(model::same_request(bytes, bytes));
    // One kind's job is no job to the other.
    rules.kind = model::JobKind::kDelete;
    const auto other = model::parse_delete_job(bytes, rules);
    CHECK(!other && other.error().reason == model::Reason::kUnknownJobType);
  }
  return 0;
}
