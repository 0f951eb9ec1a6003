// Purpose:    makes the rows of a key table (key_table.h), one function a type.
// Thread use: constant data.
//
// `Field` is a generic callable that leads from the settings, const or not, to the member.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "config/key_table.h"
#include "config/units.h"

namespace intray::config {

template <class S, class Field>
Key<S> duration_key(std::string path, Field field, base::Micros min, base::Micros max, std::string doc) {
  const auto shown = [](base::Micros bound) { return bound.count() == 0 ? "0" : quoted(format_duration(bound)); };
  std::string allowed = "a duration, " + shown(min) + " to " + shown(max);
  const auto set = [field, min, max](S& settings, const Value& value) {
    // Zero needs no unit, and is the only number that means the same in all of them.
    const bool zero = value.kind == Value::Kind::kInteger && value.number == 0;
    const auto parsed = zero                               ? std::optional(base::Micros{0})
                        : value.kind == Value::Kind::kText ? parse_duration(value.text)
                                                           : std::nullopt;
    if (!parsed || *parsed < min || *parsed > max) return false;
    field(settings) = *parsed;
    return true;
  };
  const auto print = [field](const S& settings) {
    const base::Micros value = field(settings);
    return value.count() == 0 ? std::string("0") : quoted(format_duration(value));
  };
  return {std::move(path), std::move(allowed), std::move(doc), false, {}, set, print};
}

template <class S, class Field>
Key<S> size_key(std::string path, Field field, std::int64_t min, std::int64_t max, std::string doc) {
  std::string allowed =
      "a size, " + quoted(format_size(min)) + " to " + quoted(format_size(max)) + ", or a number of bytes";
  const auto set = [field, min, max](S& settings, const Value& value) {
    const auto parsed = value.kind == Value::Kind::kInteger ? std::optional(value.number)
                        : value.kind == Value::Kind::kText  ? parse_size(value.text)
                                                            : std::nullopt;
    if (!parsed || *parsed < min || *parsed > max) return false;
    field(settings) = *parsed;
    return true;
  };
  const auto print = [field](const S& settings) { return quoted(format_size(field(settings))); };
  return {std::move(path), std::move(allowed), std::move(doc), false, {}, set, print};
}

template <class S, class Field>
Key<S> number_key(std::string path, Field field, std::int64_t min, std::int64_t max, std::string doc) {
  const auto set = [field, min, max](S& settings, const Value& value) {
    if (value.kind != Value::Kind::kInteger || value.number < min || value.number > max) return false;
    auto& member = field(settings);
    member = static_cast<std::remove_reference_t<decltype(member)>>(value.number);
    return true;
  };
  const auto print = [field](const S& settings) { return std::to_string(field(settings)); };
  return {std::move(path), fmt::format("a number, {} to {}", min, max), std::move(doc), false, {}, set, print};
}

template <class S, class Field>
Key<S> flag_key(std::string path, Field field, std::string doc) {
  const auto set = [field](S& settings, const Value& value) {
    if (value.kind != Value::Kind::kBoolean) return false;
    field(settings) = value.flag;
    return true;
  };
  const auto print = [field](const S& settings) { return std::string(field(settings) ? "true" : "false"); };
  return {std::move(path), "true or false", std::move(doc), false, {}, set, print};
}

// `good` judges the text; `allowed` says its rule in words.
template <class S, class Field, class Good>
Key<S> text_key(std::string path, Field field, Good good, std::string allowed, std::string doc) {
  const auto set = [field, good](S& settings, const Value& value) {
    if (value.kind != Value::Kind::kText || !good(value.text)) return false;
    field(settings) = value.text;
    return true;
  };
  const auto print = [field](const S& settings) { return quoted(field(settings)); };
  return {std::move(path), std::move(allowed), std::move(doc), false, {}, set, print};
}

template <class S, class Field, class Good>
Key<S> texts_key(std::string path, Field field, Good good, std::size_t min, std::size_t max, std::string allowed,
                 std::string doc) {
  const auto set = [field, good, min, max](S& settings, const Value& value) {
    if (value.kind != Value::Kind::kArray || value.items.size() < min || value.items.size() > max) return false;
    std::vector<std::string> texts;
    for (const Value& item : value.items) {
      if (item.kind != Value::Kind::kText || !good(item.text)) return false;
      texts.push_back(item.text);
    }
    field(settings) = std::move(texts);
    return true;
  };
  const auto print = [field](const S& settings) {
    std::string out = "[";
    for (const std::string& text : field(settings)) out += (out.size() > 1 ? ", " : "") + quoted(text);
    return out + "]";
  };
  return {std::move(path), std::move(allowed), std::move(doc), false, {}, set, print};
}

// One of a few words, each standing for a value.
template <class S, class Enum, class Field>
Key<S> word_key(std::string path, Field field, const std::vector<std::pair<std::string, Enum>>& words,
                std::string doc) {
  std::string allowed;
  for (const auto& [word, value] : words) allowed += (allowed.empty() ? "" : " or ") + quoted(word);
  const auto set = [field, words](S& settings, const Value& value) {
    for (const auto& [word, meaning] : words) {
      if (value.kind != Value::Kind::kText || value.text != word) continue;
      field(settings) = meaning;
      return true;
    }
    return false;
  };
  const auto print = [field, words](const S& settings) {
    for (const auto& [word, meaning] : words)
      if (field(settings) == meaning) return quoted(word);
    return std::string();
  };
  return {std::move(path), std::move(allowed), std::move(doc), false, {}, set, print};
}

template <class S>
Key<S> required(Key<S> key, std::string example) {
  key.required = true;
  key.example = std::move(example);
  return key;
}

}  // namespace intray::config
