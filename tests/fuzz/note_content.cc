// What a note must not hold: first line a secret pattern of the configuration, second this executor's credential, the
// rest the note.
#include <string>

#include "base/utf8.h"
#include "source/source.h"
#include "target.h"

using namespace intray;

namespace {

void check_refusal(const source::Refusal& refusal, std::string_view content, std::string_view credential) {
  CHECK(base::is_utf8(refusal.detail) && fuzz::is_one_plain_line(refusal.detail));
  const bool text = base::is_utf8(content) && content.find('\0') == std::string_view::npos;
  CHECK((refusal.reason == model::Reason::kContentNotText) == !text);
  CHECK(text ? refusal.reason == model::Reason::kSecretDetected : true);
  // A secret long enough to be one is never quoted.
  if (credential.size() >= 16 && credential.find(' ') == std::string_view::npos)
    CHECK(refusal.detail.find(credential) == std::string::npos);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const source::ContentRules kBuiltIn = *source::ContentRules::compile({});
  std::string_view rest = fuzz::text_of(data, size);
  const std::string pattern(fuzz::take_line(rest));
  const std::string_view credential = fuzz::take_line(rest);
  const std::string_view content = rest;

  const auto refused = kBuiltIn.check(content, credential);
  if (refused) check_refusal(*refused, content, credential);
  if (!credential.empty() && content.find(credential) != std::string_view::npos) CHECK(refused);
  if (!refused) CHECK(base::is_utf8(content) && content.find('\0') == std::string_view::npos);

  const auto rules = source::ContentRules::compile({pattern});
  if (!rules) {
    CHECK(rules.error().code == base::ErrorCode::kInvalid && fuzz::is_one_plain_line(rules.error().what));
    return 0;
  }
  CHECK(!rules->check("", ""));  // a pattern that matches nothing at all was not taken
  const auto with_pattern = rules->check(content, credential);
  if (with_pattern) check_refusal(*with_pattern, content, credential);
  if (refused) CHECK(with_pattern);  // a pattern adds, it takes nothing away
  return 0;
}
