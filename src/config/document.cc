#include "config/document.h"

#include <fmt/format.h>

#include <toml++/toml.h>
#include <algorithm>

#include "base/escape.h"

namespace intray::config {
namespace {

constexpr std::size_t kFoundBytesMax = 60;  // of a value quoted in a message

Value to_value(const toml::node& node) {
  Value out;
  out.place = {static_cast<int>(node.source().begin.line), static_cast<int>(node.source().begin.column)};
  switch (node.type()) {
    case toml::node_type::string:
      out.kind = Value::Kind::kText;
      out.text = node.as_string()->get();
      break;
    case toml::node_type::integer:
      out.kind = Value::Kind::kInteger;
      out.number = node.as_integer()->get();
      break;
    case toml::node_type::boolean:
      out.kind = Value::Kind::kBoolean;
      out.flag = node.as_boolean()->get();
      break;
    case toml::node_type::array:
      out.kind = Value::Kind::kArray;
      for (const toml::node& item : *node.as_array()) out.items.push_back(to_value(item));
      break;
    case toml::node_type::table: out.kind = Value::Kind::kTable; break;
    case toml::node_type::floating_point: out.text = "a number with a fraction"; break;
    default: out.text = "a date or time"; break;
  }
  return out;
}

bool is_bare_key(std::string_view name) {
  if (name.empty()) return false;
  for (const char c : name) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    if (!plain) return false;
  }
  return true;
}

bool holds_tables_only(const toml::array& array) {
  if (array.empty()) return false;
  for (const toml::node& item : array)
    if (!item.is_table()) return false;
  return true;
}

void flatten(const toml::table& table, const std::string& prefix, std::vector<Entry>& out) {
  for (const auto& [name, node] : table) {
    // A quoted name keeps its quotes, so that "receiver.url" in one piece is not taken for url of receiver.
    const std::string key = prefix + (is_bare_key(name.str()) ? std::string(name.str()) : quoted(name.str()));
    if (const toml::table* inner = node.as_table(); inner != nullptr && !inner->empty()) {
      flatten(*inner, key + ".", out);
    } else if (const toml::array* array = node.as_array(); array != nullptr && holds_tables_only(*array)) {
      std::size_t number = 0;
      for (const toml::node& item : *array) {
        const std::string element = fmt::format("{}[{}]", key, number++);
        if (item.as_table()->empty()) out.push_back({element, to_value(item)});
        flatten(*item.as_table(), element + ".", out);
      }
    } else {
      out.push_back({key, to_value(node)});
    }
  }
}

}  // namespace

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20U || c == 0x7F) {
      out += fmt::format("\\u{:04X}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string Value::describe() const {
  switch (kind) {
    case Kind::kText: {
      const std::string shown = base::escape(text.substr(0, kFoundBytesMax));
      return '"' + shown + (text.size() > kFoundBytesMax ? "…\"" : "\"");
    }
    case Kind::kInteger: return std::to_string(number);
    case Kind::kBoolean: return flag ? "true" : "false";
    case Kind::kArray: return items.empty() ? "an empty list" : "a list";
    case Kind::kTable: return "a table";
    case Kind::kOther: return text;
  }
  return {};
}

base::Result<std::vector<Entry>> read_document(std::string_view toml_text, const std::string& file_name) {
  std::vector<Entry> out;
  try {
    flatten(toml::parse(toml_text, file_name), "", out);
  } catch (const toml::parse_error& error) {
    return base::fail(base::ErrorCode::kInvalid,
                      fmt::format("{}:{}:{}: not TOML: {}", file_name, error.source().begin.line,
                                  error.source().begin.column, base::escape(error.description())));
  }
  // The library keeps tables sorted by name; people read from the top.
  std::ranges::stable_sort(out, {}, [](const Entry& e) { return std::pair(e.value.place.line, e.value.place.column); });
  return out;
}

}  // namespace intray::config
