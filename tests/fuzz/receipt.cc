// A line of a receipts file, as tools read it: from files that a requester's tools may have copied about.
#include <string>

#include "base/utf8.h"
#include "model/receipt.h"
#include "target.h"

using namespace intray;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view line = fuzz::text_of(data, size);
  const auto receipt = model::parse_receipt(line);
  if (!receipt) {
    CHECK(receipt.error().code == base::ErrorCode::kCorrupt);
    CHECK(base::is_utf8(receipt.error().what) && fuzz::is_one_plain_line(receipt.error().what));
    // Whatever a file held, the line that tells of it can be read.
    model::Receipt told;
    told.file_name = std::string(line);
    told.evidence.detail = std::string(line);
    told.worker_id = *base::WorkerId::parse("11111111-2222-4333-8444-555555555555");
    told.reason = model::Reason::kBadFileName;
    const std::string written = model::to_line(told);
    CHECK(written.find('\n') == std::string::npos);
    const auto again = model::parse_receipt(written);
    CHECK(again && model::to_line(*again) == written);
    return 0;
  }
  CHECK(model::to_line(*receipt) == line && line.find('\n') == std::string_view::npos);
  CHECK(receipt->attempts >= 0 && receipt->audit_seq.value >= 0 && receipt->epoch.value >= 0);
  CHECK(!receipt->job_id || !receipt->file_name);
  return 0;
}
