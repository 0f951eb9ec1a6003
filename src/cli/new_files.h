// Purpose:    what lies in new/ and tmp/: handed over and not taken yet, or not handed over yet.
// Trust:      names are requesters': anything. They are only looked at here; who prints them escapes them.
// Thread use: one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "inbox/names.h"
#include "model/state.h"
#include "sys/dir.h"

namespace intray::cli {

struct NewFile {
  std::string name;                   // raw
  std::optional<inbox::JobName> job;  // where the name is a valid one
  std::optional<sys::FileInfo> info;  // nullopt: vanished or could not be looked at
};

struct NewFiles {
  std::vector<NewFile> oldest;  // by name, which begins with the time; names that are no job's come last
  std::int64_t seen = 0;        // in new/
  std::int64_t vanished = 0;    // of `oldest`: gone when looked at again, most likely taken
  std::int64_t unreadable = 0;
  std::int64_t in_tmp = 0;
  std::vector<base::Error> errors;  // a directory that could not be read
};

// One pass over both directories; keeps the `keep` oldest names.
NewFiles look_at_new(const std::string& root, model::JobKind kind, std::size_t keep);

// Names in new/ whose job id begins with the prefix, at most `max`.
base::Result<std::vector<NewFile>> find_new(const std::string& root, model::JobKind kind, const std::string& prefix,
                                            std::size_t max);

// The reason such a file will most likely be refused for what it is, or the word for waiting.
std::string describe(const NewFile& file);

}  // namespace intray::cli
