// Purpose:    a settings file as a table: each key with its type, rule, default and documentation, and how it is read
//             and printed. Parsing, `config check`, the file that `init` writes and the man page all come from such a
//             table.
// Trust:      the admin's files; everything wrong is reported, all at once.
// Thread use: values.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/document.h"

namespace intray::config {

template <class S>
struct Key {
  std::string path;     // "receiver.connect_timeout"
  std::string allowed;  // type and range, in words: "a duration, 100ms to 60s"
  std::string doc;      // what it is for, one or two sentences
  bool required = false;
  std::string example;  // a TOML literal, shown where a required key is missing
  // Takes the value over; false where it is not what `allowed` says, and nothing was changed.
  std::function<bool(S&, const Value&)> set;
  // The present value as a TOML literal.
  std::function<std::string(const S&)> print;
};

struct Problem {
  Place place;
  std::string text;
};

// "<file>:<line>:<column>: <text>", one a line, in the order of the file; missing ones at the end.
std::string join_problems(const std::string& file_name, std::vector<Problem> problems);

// "unknown setting; …": the nearest known key, or how to see all.
std::string unknown_key(const std::string& key, const std::vector<std::string_view>& known);

// What a file said, key by key.
struct Seen {
  std::set<std::string, std::less<>> keys;
  std::vector<Entry> entries;
  Place place_of(std::string_view key) const {
    for (const Entry& entry : entries)
      if (entry.key == key) return entry.value.place;
    return {};
  }
  bool has(std::string_view key) const { return keys.contains(key); }
};

// Reads every entry by the table. Wrong values and unknown keys become problems; the others are taken over.
template <class S>
Seen apply(const std::vector<Key<S>>& table, std::vector<Entry> entries, S& out, std::vector<Problem>& problems) {
  Seen seen;
  for (const Entry& entry : entries) {
    const auto key = std::ranges::find(table, entry.key, &Key<S>::path);
    if (key != table.end()) {
      seen.keys.insert(entry.key);
      if (!key->set(out, entry.value))
        problems.push_back(
            {entry.value.place, entry.key + ": found " + entry.value.describe() + "; allowed: " + key->allowed});
      continue;
    }
    const bool table_of_keys =
        std::ranges::any_of(table, [&](const Key<S>& k) { return k.path.starts_with(entry.key + "."); });
    if (table_of_keys && entry.value.kind == Value::Kind::kTable) continue;  // empty
    std::vector<std::string_view> known;
    known.reserve(table.size());
    for (const Key<S>& k : table) known.push_back(k.path);
    problems.push_back({entry.value.place, table_of_keys ? entry.key + ": found " + entry.value.describe() +
                                                               "; allowed: a table ([" + entry.key + "])"
                                                         : unknown_key(entry.key, known)});
  }
  seen.entries = std::move(entries);
  return seen;
}

}  // namespace intray::config
