// What canonical.h accepts and what it writes, against an oracle that shares no line with it: nlohmann's parser as a
// stream of events, the contract's own rules over these, and a canonicalizer written from RFC 8785 alone.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/canonical.h"
#include "target.h"

using namespace intray;

namespace {

constexpr std::size_t kDepthMax = 4;
constexpr std::int64_t kIntegerMax = 9'007'199'254'740'991;  // 2^53-1

// The units by which RFC 8785 sorts, of text that the parser has found to be UTF-8.
std::vector<unsigned> utf16(const std::string& text) {
  std::vector<unsigned> units;
  for (std::size_t i = 0; i < text.size();) {
    const unsigned first = static_cast<unsigned char>(text[i]);
    const std::size_t octets = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    unsigned point = octets == 1 ? first : first & (0x7fU >> octets);
    for (std::size_t k = 1; k < octets; ++k) point = point << 6U | (static_cast<unsigned char>(text.at(i + k)) & 0x3fU);
    i += octets;
    if (point < 0x10000) {
      units.push_back(point);
    } else {
      units.push_back(0xd800 + ((point - 0x10000) >> 10U));
      units.push_back(0xdc00 + ((point - 0x10000) & 0x3ffU));
    }
  }
  return units;
}

std::string in_quotes(const std::string& text) {
  static constexpr std::string_view kHex = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto octet = static_cast<unsigned char>(c);
    switch (c) {
      case '\b': out += "\\b"; break;
      case '\t': out += "\\t"; break;
      case '\n': out += "\\n"; break;
      case '\f': out += "\\f"; break;
      case '\r': out += "\\r"; break;
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      default:
        if (octet < 0x20)
          out += std::string("\\u00") + kHex[octet >> 4U] + kHex[octet & 15U];
        else
          out += c;
    }
  }
  return out + "\"";
}

// Builds the canonical bytes from events, innermost container last. Whatever the contract forbids is remembered.
class Oracle : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool outside_contract = false;  // duplicates, numbers
  bool malformed = false;         // depth, NUL: the contract's additions to what is no JSON
  std::string bytes;

  bool null() override { return put("null"); }
  bool boolean(bool value) override { return put(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override {
    outside_contract = outside_contract || value < -kIntegerMax || value > kIntegerMax;
    return put(std::to_string(value));
  }
  bool number_unsigned(number_unsigned_t value) override {
    outside_contract = outside_contract || value > static_cast<number_unsigned_t>(kIntegerMax);
    return put(std::to_string(value));
  }
  bool number_float(number_float_t /*value*/, const string_t& text) override {
    outside_contract = true;
    return put(text);
  }
  bool string(string_t& value) override {
    malformed = malformed || value.find('\0') != std::string::npos;
    return put(in_quotes(value));
  }
  bool binary(binary_t& /*value*/) override { std::abort(); }
  bool start_object(std::size_t /*elements*/) override { return open(true); }
  bool key(string_t& value) override {
    malformed = malformed || value.find('\0') != std::string::npos;
    open_.back().keys.push_back(value);
    return true;
  }
  bool end_object() override { return close(); }
  bool start_array(std::size_t /*elements*/) override { return open(false); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t /*at*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*why*/) override {
    return false;
  }

 private:
  struct Container {
    bool object = false;
    std::vector<std::string> keys;
    std::vector<std::string> values;
  };
  bool open(bool object) {
    malformed = malformed || open_.size() >= kDepthMax;
    open_.push_back({object, {}, {}});
    return true;
  }
  bool put(std::string value) {
    (open_.empty() ? bytes : open_.back().values.emplace_back()) = std::move(value);
    return true;
  }
  bool close() {
    const Container done = std::move(open_.back());
    open_.pop_back();
    std::vector<std::size_t> order(done.values.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    if (done.object) {
      std::vector<std::vector<unsigned>> units;
      for (const std::string& key : done.keys) units.push_back(utf16(key));
      std::ranges::sort(order, {}, [&](std::size_t i) { return units[i]; });
      for (std::size_t i = 1; i < order.size(); ++i)
        outside_contract = outside_contract || done.keys[order[i]] == done.keys[order[i - 1]];
    }
    std::string text(1, done.object ? '{' : '[');
    for (const std::size_t i : order) {
      if (text.size() > 1) text += ',';
      if (done.object) text += in_quotes(done.keys[i]) + ":";
      text += done.values[i];
    }
    return put(text + (done.object ? '}' : ']'));
  }

  std::vector<Container> open_;
};

// "-0" reaches nobody as an event of its own. Asked only of what is JSON.
bool has_minus_zero(std::string_view json) {
  bool inside = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    if (inside && json[i] == '\\') {
      ++i;
    } else if (json[i] == '"') {
      inside = !inside;
    } else if (!inside && json.substr(i, 2) == "-0" &&
               json.substr(i + 2, 1).find_first_of(".eE") == std::string::npos) {
      return true;
    }
  }
  return false;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes = fuzz::text_of(data, size);
  Oracle oracle;
  // That parser skips a byte order mark, and ends at a NUL as if nothing came behind it.
  const bool whole = !bytes.starts_with("\xef\xbb\xbf") && bytes.find('\0') == std::string_view::npos;
  const bool json = whole && nlohmann::json::sax_parse(bytes, &oracle) && !oracle.malformed;
  const bool inside = json && !oracle.outside_contract && !has_minus_zero(bytes);

  const auto strict = model::parse_strict(bytes);
  const auto canonical = model::parse_canonical(bytes);
  CHECK(strict.has_value() == inside);
  CHECK(canonical.has_value() == (inside && oracle.bytes == bytes));
  if (strict) CHECK(model::to_canonical(*strict) == oracle.bytes);
  // Either word of refusal is right where a file has faults of both kinds: the first one that is met is named.
  if (!strict && strict.error().reason == model::Reason::kMalformedJson) CHECK(!json);
  if (!strict && strict.error().reason == model::Reason::kNotCanonical)
    CHECK(!json || oracle.outside_contract || has_minus_zero(bytes));
  return 0;
}
