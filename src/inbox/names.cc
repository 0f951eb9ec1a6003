#include "inbox/names.h"

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "base/hash.h"
#include "limits.h"

namespace intray::inbox {
namespace {

constexpr std::size_t kTimeDigits = 16;
constexpr std::int64_t kTimeMax_us = 9'999'999'999'999'999;
constexpr std::size_t kUuidChars = 36;
constexpr std::size_t kDigestDigits = 16;
constexpr std::string_view kJson = ".json";
constexpr std::string_view kBad = "bad";
constexpr std::string_view kInfo = ":2,";
constexpr std::string_view kSelfTest = ".self-test.";
constexpr std::string_view kSelfTestOfProcess = "pid-";
constexpr std::size_t kJobNameChars = kTimeDigits + 1 + kUuidChars + kJson.size();

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Exactly one spelling for each number: no sign, no leading zero.
std::optional<std::int64_t> parse_number(std::string_view text, std::int64_t max) {
  if (text.empty() || (text.size() > 1 && text[0] == '0') || !std::all_of(text.begin(), text.end(), is_digit))
    return std::nullopt;
  std::int64_t value = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc{} || value > max)
    return std::nullopt;
  return value;
}

std::optional<base::WallTime> parse_time(std::string_view text) {
  if (text.size() != kTimeDigits || !std::all_of(text.begin(), text.end(), is_digit)) return std::nullopt;
  std::int64_t us = 0;
  std::from_chars(text.data(), text.data() + text.size(), us);
  return base::from_us(us);
}

// Times outside of 1970 to 2286 don't fit 16 digits; they are a broken clock's and are held at the ends.
std::string print_time(base::WallTime time) {
  const std::int64_t us = std::clamp<std::int64_t>(base::to_us(time), 0, kTimeMax_us);
  const std::string digits = std::to_string(us);
  return std::string(kTimeDigits - digits.size(), '0') + digits;
}

// Takes what stands before the next dot off `rest`, the dot too. nullopt: there is no dot.
std::optional<std::string_view> take_field(std::string_view& rest) {
  const std::size_t dot = rest.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const std::string_view field = rest.substr(0, dot);
  rest.remove_prefix(dot + 1);
  return field;
}

bool is_word(std::string_view word) {
  return !word.empty() && word.size() <= limits::kStateWordBytesMax &&
         std::all_of(word.begin(), word.end(),
                     [](char c) { return (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c); });
}

// "" is copy 1, ".2" copy 2, and so on.
std::optional<int> parse_copy(std::string_view text) {
  if (text.empty()) return 1;
  if (text[0] != '.') return std::nullopt;
  const auto copy = parse_number(text.substr(1), limits::kNameCopiesMax);
  if (!copy || *copy < 2) return std::nullopt;
  return static_cast<int>(*copy);
}

}  // namespace

std::string JobName::str() const {
  std::string out;
  out.reserve(kJobNameChars);
  out += print_time(created);
  out += '.';
  out += job_id.str();
  out += kJson;
  return out;
}

std::optional<JobName> JobName::parse(std::string_view name) {
  if (name.size() != kJobNameChars || name[kTimeDigits] != '.' || !name.ends_with(kJson)) return std::nullopt;
  const auto created = parse_time(name.substr(0, kTimeDigits));
  const auto job_id = base::JobId::parse(name.substr(kTimeDigits + 1, kUuidChars));
  if (!created || !job_id) return std::nullopt;
  return JobName{*created, *job_id};
}

std::string LeaseName::str() const {
  const std::string tail = job ? job->str() : bad_digest + "." + std::string(kBad);
  return std::to_string(take.value) + "." + std::to_string(deaths) + "." + tail;
}

std::optional<LeaseName> LeaseName::parse(std::string_view name) {
  const auto take_text = take_field(name);
  const auto deaths_text = take_text ? take_field(name) : std::nullopt;
  if (!deaths_text) return std::nullopt;
  const auto take = parse_number(*take_text, INT64_MAX);
  const auto deaths = parse_number(*deaths_text, limits::kDeathsMax);
  if (!take || !deaths) return std::nullopt;
  LeaseName out{.take = {*take}, .deaths = static_cast<int>(*deaths), .job = JobName::parse(name), .bad_digest = {}};
  if (out.job) return out;
  const auto digest = take_field(name);
  if (!digest || digest->size() != kDigestDigits || !base::from_hex(*digest) || name != kBad) return std::nullopt;
  out.bad_digest = *digest;
  return out;
}

std::string PlacedName::str() const {
  std::string out = job ? job->str() : print_time(taken) + "." + std::to_string(take.value) + "." + std::string(kBad);
  if (copy > 1) out += "." + std::to_string(copy);
  if (!word.empty()) out += std::string(kInfo) + word;
  return out;
}

std::optional<PlacedName> PlacedName::parse(std::string_view name) {
  PlacedName out;
  if (const std::size_t info = name.find(kInfo); info != std::string_view::npos) {
    const std::string_view word = name.substr(info + kInfo.size());
    if (!is_word(word)) return std::nullopt;
    out.word = word;
    name = name.substr(0, info);
  }
  if (name.size() >= kJobNameChars) {
    if (const auto copy = parse_copy(name.substr(kJobNameChars)))
      if (const auto job = JobName::parse(name.substr(0, kJobNameChars))) {
        out.job = job;
        out.copy = *copy;
        return out;
      }
  }
  const auto taken_text = take_field(name);
  const auto take_text = taken_text ? take_field(name) : std::nullopt;
  if (!take_text || !name.starts_with(kBad)) return std::nullopt;
  const auto taken = parse_time(*taken_text);
  const auto take = parse_number(*take_text, INT64_MAX);
  const auto copy = parse_copy(name.substr(kBad.size()));
  if (!taken || !take || !copy) return std::nullopt;
  out.taken = *taken;
  out.take = {*take};
  out.copy = *copy;
  return out;
}

std::string digest_of_name(std::string_view name) { return base::sha256(name).hex().substr(0, kDigestDigits); }

std::string self_test_name(base::Slot slot) { return std::string(kSelfTest) + std::to_string(slot.value); }
std::string self_test_name_of_process(int pid) {
  return std::string(kSelfTest).append(kSelfTestOfProcess) + std::to_string(pid);
}
bool is_self_test_name(std::string_view name) {
  if (!name.starts_with(kSelfTest)) return false;
  name.remove_prefix(kSelfTest.size());
  if (name.starts_with(kSelfTestOfProcess)) name.remove_prefix(kSelfTestOfProcess.size());
  // Nothing longer: whatever else a requester calls so is a file to be judged.
  return !name.empty() && name.size() <= 10 && name.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace intray::inbox
