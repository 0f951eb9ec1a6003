// Any JSON: the strict parser, the canonical one and the writer agree.
#include <nlohmann/json.hpp>
#include <string>

#include "base/utf8.h"
#include "model/canonical.h"
#include "target.h"

using namespace intray;

namespace {

void check_error(const model::CanonicalError& error) {
  CHECK(error.reason == model::Reason::kMalformedJson || error.reason == model::Reason::kNotCanonical);
  CHECK(!error.detail.empty() && base::is_utf8(error.detail) && fuzz::is_one_plain_line(error.detail));
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes = fuzz::text_of(data, size);
  const auto strict = model::parse_strict(bytes);
  const auto canonical = model::parse_canonical(bytes);
  if (!strict) {
    check_error(strict.error());
    CHECK(!canonical && canonical.error().reason == strict.error().reason);
    CHECK(canonical.error().detail == strict.error().detail);
    return 0;
  }
  // What the strict parser takes, another library's takes and reads alike.
  CHECK(nlohmann::json::parse(bytes, nullptr, false) == *strict);
  const std::string written = model::to_canonical(*strict);
  const auto again = model::parse_canonical(written);
  CHECK(again && *again == *strict && model::to_canonical(*again) == written);
  CHECK(canonical.has_value() == (written == bytes));
  if (!canonical) {
    check_error(canonical.error());
    CHECK(canonical.error().reason == model::Reason::kNotCanonical);
  } else {
    CHECK(*canonical == *strict);
  }
  return 0;
}
