// Purpose:    the one grammar of file names in every directory of an inbox: parse and print.
// Trust:      names in new/ are a requester's; an untrusted name exists beyond this file only as a parsed value.
// Thread use: pure.
//
//   tmp/, new/   <created>.<job_id>.json                           created: 16 digits, microseconds since the epoch
//   lease/<n>/   <take>.<deaths>.<created>.<job_id>.json           as taken
//                <take>.<deaths>.<16 hex of SHA-256(name)>.bad     where the dropped name was not valid
//   cur/         <created>.<job_id>.json[.<k>]                     k = 2, 3, … where the name is taken
//   done/ failed/ rejected/ unknown/
//                <created>.<job_id>.json[.<k>]:2,<WORD>            WORD: the reason, or the result where there is none
//                <taken µs>.<take>.bad[.<k>]:2,<WORD>
//   new/, lease/<n>/, cur/   .self-test.<n>, the executor's own, while it starts
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/ids.h"

namespace intray::inbox {

// A requester's name that matches ^[0-9]{16}\.[0-9a-f-]{36}\.json$ and whose id is a UUIDv4.
struct JobName {
  base::WallTime created;
  base::JobId job_id;
  std::string str() const;
  static std::optional<JobName> parse(std::string_view name);
  auto operator<=>(const JobName&) const = default;
};

// In lease/<slot>/.
struct LeaseName {
  base::TakeNumber take;
  int deaths = 0;
  std::optional<JobName> job;  // nullopt: .bad
  std::string bad_digest;      // 16 hex digits where .bad
  std::string str() const;
  static std::optional<LeaseName> parse(std::string_view name);
};

// In cur/ and the final directories.
struct PlacedName {
  std::optional<JobName> job;  // nullopt: a bad file
  base::WallTime taken;        // of a bad file
  base::TakeNumber take;       // of a bad file
  int copy = 1;                // k; 1 prints nothing
  std::string word;            // empty in cur/
  std::string str() const;
  static std::optional<PlacedName> parse(std::string_view name);
};

std::string digest_of_name(std::string_view name);  // 16 hex digits

// ".self-test.<slot>": what an executor moves through its directories at start. Of that name, and the executor's own:
// no job, looked at by nobody else.
std::string self_test_name(base::Slot slot);
// ".self-test.pid-<n>", in lease/0/: of a process that has no slot yet.
std::string self_test_name_of_process(int pid);
bool is_self_test_name(std::string_view name);

}  // namespace intray::inbox
