// A vault path: first line the path, second (may be missing) the vault root.
#include <algorithm>
#include <array>
#include <string>

#include "base/escape.h"
#include "base/utf8.h"
#include "limits.h"
#include "model/effect.h"
#include "model/vault_path.h"
#include "target.h"

using namespace intray;

namespace {

const std::array<std::string, 2> kExtensions{".md", ".canvas"};

void check_safe(std::string_view path, std::string_view root) {
  CHECK(path.size() <= limits::kVaultPathBytesMax && base::is_utf8(path) && fuzz::is_one_plain_line(path));
  CHECK(path.substr(0, root.size()) == root && path[root.size()] == '/');
  CHECK(path.find_first_of("\\:*?\"<>|`") == std::string_view::npos);
  CHECK(base::nfc(path) == path);
  CHECK(base::escape(path) == path);  // nothing that a terminal would act on
  CHECK(std::ranges::any_of(kExtensions, [&](const std::string& e) { return path.ends_with(e); }));
  std::string_view below = model::below_root(path, root);
  CHECK(std::string(root) + "/" + std::string(below) == path);
  // A receiver that normalizes for compatibility or decodes percent signs still stays below the root.
  const auto folded = base::nfkc(below);
  CHECK(folded && std::ranges::count(*folded, '/') == std::ranges::count(below, '/'));
  CHECK(folded->find('\\') == std::string::npos);
  while (true) {
    const std::size_t slash = below.find('/');
    const std::string_view segment = below.substr(0, slash);
    CHECK(!segment.empty() && segment.size() <= limits::kPathSegmentBytesMax);
    CHECK(segment.front() != '.' && segment.front() != '-' && segment.back() != '.' && segment.back() != ' ');
    const auto alone = base::nfkc(segment);
    CHECK(alone && *alone != "." && *alone != "..");
    if (slash == std::string_view::npos) return;
    below.remove_prefix(slash + 1);
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest = fuzz::text_of(data, size);
  const std::string_view path = fuzz::take_line(rest);
  const std::string_view second = fuzz::take_line(rest);
  const std::string_view root = second.starts_with('/') && base::is_utf8(second) ? second : "/app/vault";

  if (const auto rule = model::unsafe_path_rule(path, root, kExtensions)) {
    CHECK(!rule->empty() && base::is_utf8(*rule) && fuzz::is_one_plain_line(*rule));
  } else {
    check_safe(path, root);
    CHECK(model::below_root(path, root) == path.substr(root.size() + 1));
  }

  const std::string key = model::collision_key(path);
  CHECK(model::collision_key(key) == key);
  if (const auto composed = base::nfc(path)) CHECK(model::collision_key(*composed) == key);
  return 0;
}
