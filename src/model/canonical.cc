#include "model/canonical.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/escape.h"
#include "limits.h"
#include "model/excerpt.h"
#include "model/take_apart.h"

namespace intray::model {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t kSafeIntegerMax = (std::int64_t{1} << 53) - 1;  // what every JSON reader holds exactly

// Builds the value while nlohmann's parser, which does not recurse, reads the text. What a strict parser would take
// and the contract does not is remembered, not acted on: text that turns out to be no JSON at all is called that.
class Builder final : public nlohmann::json_sax<Json> {
 public:
  Builder() = default;
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;
  ~Builder() override { take_apart(root_); }

  bool null() override { return add(Json()); }
  bool boolean(bool value) override { return add(Json(value)); }
  bool number_integer(number_integer_t value) override {
    if (value == 0) note_uncanonical("number -0 is not a plain integer");
    if (value < -kSafeIntegerMax) note_uncanonical(fmt::format("integer {} is below -(2^53-1)", value));
    return add(Json(value));
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (value > static_cast<number_unsigned_t>(kSafeIntegerMax))
      note_uncanonical(fmt::format("integer {} is above 2^53-1", value));
    return add(Json(value));
  }
  bool number_float(number_float_t value, const string_t& text) override {
    note_uncanonical(fmt::format("number {} is not a plain integer within ±(2^53-1)", excerpt(text)));
    return add(Json(value));
  }
  bool string(string_t& value) override {
    if (value.contains('\0')) return refuse("a string holds NUL (\\u0000)");
    return add(Json(std::move(value)));
  }
  bool binary(binary_t&) override { return refuse("binary value"); }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool key(string_t& name) override {
    if (name.contains('\0')) return refuse("a member name holds NUL (\\u0000)");
    if (open_.back()->contains(name)) note_uncanonical(fmt::format("duplicate member {}", excerpt(name)));
    key_ = std::move(name);
    return true;
  }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& e) override {
    constexpr int kNumberOverflow = 406;  // grammar is fine, the value is out of any range
    if (e.id == kNumberOverflow) {
      note_uncanonical("a number is out of range");
      stopped_at_number = true;
      return false;
    }
    return refuse(fmt::format("not JSON at byte {}: {}", position == 0 ? 0 : position - 1, cause_of(e.what())));
  }

  Json take() { return std::move(root_); }
  std::string malformed;           // the first reason to call the text no JSON; parsing stopped there
  std::string uncanonical;         // the first value the contract does not take
  bool stopped_at_number = false;  // parsing ended early, at a number that is JSON but too large for any type

 private:
  bool refuse(std::string why) {
    if (malformed.empty()) malformed = std::move(why);
    return false;
  }
  void note_uncanonical(std::string why) {
    if (uncanonical.empty()) uncanonical = std::move(why);
  }
  // The values in the containers that are open stay where they are: only the innermost one grows.
  Json* place(Json&& value) {
    if (open_.empty()) return &(root_ = std::move(value));
    Json& parent = *open_.back();
    if (parent.is_array()) return &parent.get_ref<Json::array_t&>().emplace_back(std::move(value));
    Json& member = parent.get_ref<Json::object_t&>()[std::move(key_)];
    take_apart(member);  // of a duplicate
    return &(member = std::move(value));
  }
  bool add(Json&& value) {
    place(std::move(value));
    return true;
  }
  bool open(Json&& empty) {
    if (open_.size() >= static_cast<std::size_t>(limits::kJsonDepthMax))
      return refuse(fmt::format("nested deeper than {}", limits::kJsonDepthMax));
    open_.push_back(place(std::move(empty)));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }
  // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error while …; last read: '…'"
  static std::string cause_of(std::string_view what) {
    constexpr std::string_view kColumn = ", column ";
    if (const auto column = what.find(kColumn); column != std::string_view::npos) {
      if (const auto colon = what.find(": ", column); colon != std::string_view::npos) what.remove_prefix(colon + 2);
    }
    if (const auto last = what.find("; last read"); last != std::string_view::npos) what = what.substr(0, last);
    constexpr std::size_t kCauseBytesMax = 120;
    return base::escape(what.substr(0, kCauseBytesMax));
  }

  Json root_;
  std::vector<Json*> open_;
  std::string key_;
};

// The length of the JSON number that the text begins with; 0 where it begins with none.
std::size_t number_length(std::string_view text) {
  std::size_t at = 0;
  const auto digits = [&] {
    const std::size_t from = at;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
    return at > from;
  };
  if (at < text.size() && text[at] == '-') ++at;
  if (at < text.size() && text[at] == '0')
    ++at;
  else if (!digits())
    return 0;
  std::size_t end = at;
  if (at < text.size() && text[at] == '.') {
    ++at;
    if (!digits()) return end;
    end = at;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    if (digits()) end = at;
  }
  return end;
}

// The same text with 0 in the place of each number: JSON exactly where the text is. The blanks keep what stands beside
// a number from becoming part of it.
std::string with_small_numbers(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  bool in_string = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t number = in_string ? 0 : number_length(text.substr(at));
    if (number > 0) {
      out += " 0 ";
      at += number;
      continue;
    }
    const std::size_t width = in_string && text[at] == '\\' ? 2 : 1;  // an escaped quotation mark ends no string
    if (text[at] == '"') in_string = !in_string;
    out += text.substr(at, width);
    at += width;
  }
  return out;
}

std::unexpected<CanonicalError> malformed(std::string detail) {
  return std::unexpected(CanonicalError{Reason::kMalformedJson, std::move(detail)});
}
std::unexpected<CanonicalError> not_canonical(std::string detail) {
  return std::unexpected(CanonicalError{Reason::kNotCanonical, std::move(detail)});
}

// Which rule the first differing byte breaks. The text is valid JSON with plain integers and no duplicates, so that
// what can differ is white space, an escape, or the order of members.
std::string explain_difference(std::string_view given, std::string_view canonical) {
  const auto mismatch = std::ranges::mismatch(given, canonical);
  const auto at = static_cast<std::size_t>(mismatch.in1 - given.begin());
  bool in_string = false;
  std::size_t start = 0;
  for (std::size_t i = 0; i < at; ++i) {
    if (in_string && given[i] == '\\') {
      ++i;  // an escaped character, which may be the one that differs, ends no string
    } else if (given[i] == '"') {
      in_string = !in_string;
      if (in_string) start = i;
    }
  }
  if (!in_string) {
    const bool blank = at < given.size() && std::string_view(" \t\r\n").contains(given[at]);
    return fmt::format("{} at byte {}", blank ? "white space" : "not in canonical form", at);
  }
  std::size_t end = start + 1;
  while (end < given.size() && given[end] != '"') end += given[end] == '\\' ? 2U : 1U;
  const std::string_view literal = given.substr(start, end + 1 - start);
  const Json text = Json::parse(literal, nullptr, false);
  if (!text.is_string()) std::abort();  // the parser took it before
  std::string shortest;
  append_canonical_string(shortest, text.get_ref<const std::string&>());
  if (shortest != literal) {
    const auto escape = std::ranges::mismatch(literal, shortest).in1 - literal.begin();
    return fmt::format("escape not shortest at byte {}", start + static_cast<std::size_t>(escape));
  }
  return fmt::format("members not sorted at byte {}", at);
}

// UTF-16 order of valid UTF-8: as the bytes sort, but U+E000..U+FFFF (EE, EF) come after the surrogates that stand for
// what is above U+FFFF (F0..F4).
bool utf16_less(std::string_view a, std::string_view b) {
  const auto rank = [](char c) {
    const auto octet = static_cast<unsigned char>(c);
    return octet == 0xEE || octet == 0xEF ? octet + 0x10 : int{octet};
  };
  return std::ranges::lexicographical_compare(a, b, {}, rank, rank);
}

void append_value(std::string& out, const Json& value);

void append_member(std::string& out, const std::string& name, const Json& value, bool first) {
  if (!first) out += ',';
  append_canonical_string(out, name);
  out += ':';
  append_value(out, value);
}

void append_object(std::string& out, const Json::object_t& object) {
  const auto above_bmp_or_private = [](const auto& member) {
    return std::ranges::any_of(member.first, [](char c) { return static_cast<unsigned char>(c) >= 0xEE; });
  };
  out += '{';
  bool first = true;
  if (std::ranges::none_of(object, above_bmp_or_private)) {
    for (const auto& [name, value] : object) append_member(out, name, value, first), first = false;
  } else {
    std::vector<const Json::object_t::value_type*> members;
    members.reserve(object.size());
    for (const auto& member : object) members.push_back(&member);
    std::ranges::sort(members, utf16_less, [](const auto* member) { return std::string_view(member->first); });
    for (const auto* member : members) append_member(out, member->first, member->second, first), first = false;
  }
  out += '}';
}

void append_value(std::string& out, const Json& value) {
  switch (value.type()) {
    case Json::value_t::null: out += "null"; return;
    case Json::value_t::boolean: out += value.get<bool>() ? "true" : "false"; return;
    case Json::value_t::number_integer:
      fmt::format_to(std::back_inserter(out), "{}", value.get<std::int64_t>());
      return;
    case Json::value_t::number_unsigned:
      fmt::format_to(std::back_inserter(out), "{}", value.get<std::uint64_t>());
      return;
    case Json::value_t::string: append_canonical_string(out, value.get_ref<const std::string&>()); return;
    case Json::value_t::object: append_object(out, value.get_ref<const Json::object_t&>()); return;
    case Json::value_t::array: {
      out += '[';
      bool first = true;
      for (const Json& element : value) {
        if (!first) out += ',';
        append_value(out, element);
        first = false;
      }
      out += ']';
      return;
    }
    case Json::value_t::number_float:
    case Json::value_t::binary:
    case Json::value_t::discarded: break;
  }
  std::abort();  // no accepted kind: the caller's mistake
}

}  // namespace

std::expected<Json, CanonicalError> parse_strict(std::string_view bytes) {
  // nlohmann's lexer skips a BOM and takes a NUL for the end of the input.
  if (bytes.starts_with("\xEF\xBB\xBF")) return malformed("byte order mark at byte 0");
  if (const auto nul = bytes.find('\0'); nul != std::string_view::npos)
    return malformed(fmt::format("NUL at byte {}", nul));
  Builder builder;
  const bool complete = Json::sax_parse(bytes.begin(), bytes.end(), &builder);
  if (builder.stopped_at_number) {
    // Whether the rest is JSON decides what the text is called.
    const std::string small = with_small_numbers(bytes);
    Builder rest;
    if (!Json::sax_parse(small.begin(), small.end(), &rest))
      return malformed("not JSON, somewhere behind a number that is out of range");
  }
  if (!builder.malformed.empty()) return malformed(std::move(builder.malformed));
  if (!builder.uncanonical.empty()) return not_canonical(std::move(builder.uncanonical));
  if (!complete) return malformed("not JSON");
  return builder.take();
}

std::expected<Json, CanonicalError> parse_canonical(std::string_view bytes) {
  auto value = parse_strict(bytes);
  if (!value) return value;
  const TakenApart lets_go(value);
  std::string canonical;
  canonical.reserve(bytes.size());
  append_value(canonical, *value);
  if (canonical != bytes) return not_canonical(explain_difference(bytes, canonical));
  return std::move(*value);
}

std::string to_canonical(const Json& value) {
  std::string out;
  append_value(out, value);
  return out;
}

void append_canonical_string(std::string& out, std::string_view text) {
  static constexpr std::string_view kHex = "0123456789abcdef";
  out += '"';
  std::size_t plain_from = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto octet = static_cast<unsigned char>(text[i]);
    if (octet >= 0x20 && octet != '"' && octet != '\\') continue;
    out += text.substr(plain_from, i - plain_from);
    plain_from = i + 1;
    switch (octet) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\b': out += "\\b"; break;
      case '\t': out += "\\t"; break;
      case '\n': out += "\\n"; break;
      case '\f': out += "\\f"; break;
      case '\r': out += "\\r"; break;
      default:
        out += "\\u00";
        out += kHex[octet >> 4U];
        out += kHex[octet & 15U];
    }
  }
  out += text.substr(plain_from);
  out += '"';
}

}  // namespace intray::model
