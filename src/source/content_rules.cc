#include <fmt/format.h>
#include <re2/re2.h>
#include <re2/set.h>

#include <memory>
#include <vector>

#include "base/escape.h"
#include "base/utf8.h"
#include "limits.h"
#include "model/excerpt.h"
#include "source/source.h"

namespace intray::source {
namespace {

// PEM, PGP and SSH2: "-----BEGIN RSA PRIVATE KEY-----", "… PRIVATE KEY BLOCK-----", "---- BEGIN SSH2 ENCRYPTED PRIVATE
// KEY ----".
constexpr std::string_view kPrivateKey = "-{4,5} ?BEGIN [A-Z0-9 ]{0,64}PRIVATE KEY(?: BLOCK)? ?-{4,5}";

re2::StringPiece piece(std::string_view text) { return {text.data(), text.size()}; }

RE2::Options regex_options() {
  RE2::Options out;
  out.set_log_errors(false);
  out.set_max_mem(limits::kPatternMemoryBytesMax);
  return out;
}

// Calls see(line, number) for each line, from 1, until it returns true. Lines end with LF, CR LF or CR.
template <class See>
void for_each_line(std::string_view text, See see) {
  for (std::size_t number = 1;; ++number) {
    const std::size_t end = text.find_first_of("\r\n");
    if (see(text.substr(0, end), number) || end == std::string_view::npos) return;
    text.remove_prefix(end + (text.substr(end).starts_with("\r\n") ? 2 : 1));
  }
}

std::size_t line_at(std::string_view text, std::size_t offset) {
  std::size_t out = 0;
  for_each_line(text.substr(0, offset), [&](std::string_view, std::size_t number) {
    out = number;
    return false;
  });
  return out;
}

std::optional<Refusal> broken_text_rule(std::string_view content) {
  if (const std::size_t nul = content.find('\0'); nul != std::string_view::npos)
    return Refusal{model::Reason::kContentNotText, fmt::format("a NUL stands in line {}", line_at(content, nul))};
  if (base::is_utf8(content)) return std::nullopt;
  std::size_t line = 0;
  for_each_line(content, [&](std::string_view text, std::size_t number) {
    line = number;
    return !base::is_utf8(text);
  });
  return Refusal{model::Reason::kContentNotText, fmt::format("line {} is not valid UTF-8", line)};
}

}  // namespace

struct ContentRules::Impl {
  std::vector<std::unique_ptr<RE2>> patterns;  // 0 is the private-key rule
  std::unique_ptr<RE2::Set> all;

  // The first rule that matches the line. One pass for all of them; where its automaton outgrows its memory, one each.
  std::optional<std::size_t> matching(std::string_view line) const {
    RE2::Set::ErrorInfo trouble{};
    if (!all->Match(piece(line), nullptr, &trouble) && trouble.kind == RE2::Set::kNoError) return std::nullopt;
    for (std::size_t i = 0; i < patterns.size(); ++i)
      if (RE2::PartialMatch(piece(line), *patterns[i])) return i;
    return std::nullopt;
  }
};

ContentRules::ContentRules(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ContentRules::ContentRules(ContentRules&&) noexcept = default;
ContentRules& ContentRules::operator=(ContentRules&&) noexcept = default;
ContentRules::~ContentRules() = default;

base::Result<ContentRules> ContentRules::compile(const std::vector<std::string>& patterns) {
  const auto bad = [](const std::string& pattern, const std::string& why) {
    return base::fail(base::ErrorCode::kInvalid,
                      fmt::format("secret pattern {}: {}", model::excerpt(pattern), base::escape(why)));
  };
  if (patterns.size() > limits::kSecretPatternsMax)
    return base::fail(base::ErrorCode::kInvalid,
                      fmt::format("{} secret patterns, more than {}", patterns.size(), limits::kSecretPatternsMax));
  auto impl = std::make_unique<Impl>();
  impl->all = std::make_unique<RE2::Set>(regex_options(), RE2::UNANCHORED);
  const auto add = [&](std::string_view pattern) {
    impl->patterns.push_back(std::make_unique<RE2>(piece(pattern), regex_options()));
    return impl->patterns.back()->ok() && impl->all->Add(piece(pattern), nullptr) >= 0;
  };
  if (!add(kPrivateKey)) return bad(std::string(kPrivateKey), "the built-in rule");
  for (const std::string& pattern : patterns) {
    if (pattern.size() > limits::kSecretPatternBytesMax)
      return bad(pattern, fmt::format("{} bytes, more than {}", pattern.size(), limits::kSecretPatternBytesMax));
    if (!add(pattern)) return bad(pattern, impl->patterns.back()->error());
    if (RE2::PartialMatch("", *impl->patterns.back())) return bad(pattern, "matches an empty line, so every note");
  }
  if (!impl->all->Compile())
    return base::fail(base::ErrorCode::kInvalid, "the secret patterns need too much memory together");
  return ContentRules(std::move(impl));
}

std::optional<Refusal> ContentRules::check(std::string_view content, std::string_view own_credential) const {
  if (auto broken = broken_text_rule(content)) return broken;
  const auto secret = [](std::string what) { return Refusal{model::Reason::kSecretDetected, std::move(what)}; };
  if (const std::size_t at = own_credential.empty() ? std::string_view::npos : content.find(own_credential);
      at != std::string_view::npos)
    return secret(fmt::format("line {} holds this executor's own credential", line_at(content, at)));
  std::optional<Refusal> out;
  for_each_line(content, [&](std::string_view line, std::size_t number) {
    if (line.empty()) return false;
    const auto rule = impl_->matching(line);
    if (rule == 0)
      out = secret(fmt::format("line {} begins a private-key block", number));
    else if (rule)
      out = secret(fmt::format("line {} matches secret pattern {} of the configuration", number, *rule));
    return out.has_value();
  });
  return out;
}

}  // namespace intray::source
