// Purpose:    a TOML text as a flat list of keys with their values and places: the one door to toml++.
// Trust:      the admin's files; a syntax error is a value with its place, never an exception.
// Thread use: values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace intray::config {

struct Place {
  int line = 0;    // from 1; 0: not known
  int column = 0;  // from 1
};

struct Value {
  enum class Kind { kText, kInteger, kBoolean, kArray, kTable, kOther };
  Kind kind = Kind::kOther;
  std::string text;          // kText; of kOther the word for what it is ("a date", "a number with a fraction")
  std::int64_t number = 0;   // kInteger
  bool flag = false;         // kBoolean
  std::vector<Value> items;  // kArray
  Place place;

  // What was found, for a message, escaped: `"5"`, `7`, `a list`, `a table`.
  std::string describe() const;
};

struct Entry {
  std::string key;  // dotted; an array of tables numbers its elements from 0: "lease[0].tenant"
  Value value;
};

// The text as a TOML string: quoted, escaped.
std::string quoted(std::string_view text);

// Every leaf of the document, and every table that holds nothing. kInvalid: "<file>:<line>:<column>: <why>" for bytes
// that are no TOML.
base::Result<std::vector<Entry>> read_document(std::string_view toml_text, const std::string& file_name);

}  // namespace intray::config
