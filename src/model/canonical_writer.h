// Purpose:    writes one JSON object's canonical bytes straight from its known members: hashes, jobs and receipts are
// hot. Trust:      member names are plain ASCII literals of ours; text values must be valid UTF-8. Thread use: values.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "base/hash.h"
#include "model/canonical.h"

namespace intray::model {

// Members must be given in sorted order: another order is our own mistake and aborts. One use: finish() ends it.
class CanonicalWriter {
 public:
  explicit CanonicalWriter(std::size_t bytes_expected) {
    bytes_.reserve(bytes_expected);
    bytes_ += '{';
  }
  CanonicalWriter& text(std::string_view name, std::string_view value) {
    member(name);
    append_canonical_string(bytes_, value);
    return *this;
  }
  CanonicalWriter& hash(std::string_view name, const base::Sha256& value) { return text(name, value.hex()); }
  // Within ±(2^53-1).
  CanonicalWriter& number(std::string_view name, std::int64_t value) { return raw(name, std::to_string(value)); }
  CanonicalWriter& null(std::string_view name) { return raw(name, "null"); }
  // A value whose canonical bytes the caller has.
  CanonicalWriter& raw(std::string_view name, std::string_view canonical_value) {
    member(name);
    bytes_ += canonical_value;
    return *this;
  }
  std::string finish() {
    bytes_ += '}';
    return std::move(bytes_);
  }

 private:
  void member(std::string_view name) {
    if (name <= last_) std::abort();
    if (!last_.empty()) bytes_ += ',';
    last_ = name;
    bytes_ += '"';
    bytes_ += name;
    bytes_ += "\":";
  }
  std::string bytes_;
  std::string_view last_;
};

}  // namespace intray::model
