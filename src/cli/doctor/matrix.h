// Purpose:    who may do what to which thing: the whole boundary of a machine as one table.
// Trust:      the table is the claim; probe.cc tries each cell on the machine at hand.
// Thread use: constant data.
//
// A new executor fills in its column and adds its rows; nothing else knows the cells.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace intray::cli::doctor {

enum class Subject : std::uint8_t {
  kRequester,
  kStranger,  // an agent that has nothing to do with intray
  kSaveExecutor,
  kSaveConnector,
  kDeleteExecutor,
  kDeleteConnector,
  kMirror,
  kAdmin,
  kReceiver,  // where it runs on this machine
};
inline constexpr std::size_t kSubjects = 9;

struct SubjectText {
  Subject subject;
  std::string_view head;  // of its column, short
  std::string_view word;  // in --json and in reasons
};
inline constexpr auto kSubjectTexts = std::to_array<SubjectText>({
    {Subject::kRequester, "rq", "requester"},
    {Subject::kStranger, "agent", "unrelated agent"},
    {Subject::kSaveExecutor, "save", "save executor"},
    {Subject::kSaveConnector, "s-con", "save connector"},
    {Subject::kDeleteExecutor, "del", "delete executor"},
    {Subject::kDeleteConnector, "d-con", "delete connector"},
    {Subject::kMirror, "mirror", "mirror"},
    {Subject::kAdmin, "admin", "admin"},
    {Subject::kReceiver, "recv", "receiver"},
});

enum class Target : std::uint8_t {
  kSaveCredential,
  kDeleteCredential,
  kPublicKeys,
  kSaveDrop,      // tmp/ and new/
  kSaveHeld,      // cur/, lease/<slot>/, done/, failed/, rejected/, unknown/
  kSaveLocks,     // lease/<slot>.lock
  kSaveReceipts,  // and the files in it
  kSaveLedger,    // and the files in it
  kDeleteDrop,
  kDeleteHeld,
  kDeleteReceipts,
  kDeleteLedger,
  kMarkers,
  kTree,  // the directories that nobody but root adds names to
  kMirror,
  kSettings,
  kPrograms,
  kNetwork,
  kDocker,
  kSsh,
  kProcesses,
};
inline constexpr std::size_t kTargets = 21;

enum class Act : std::uint8_t { kRead, kWrite, kRemoveOthers, kConnect, kMakeSocket, kSignal, kTrace };

struct ActText {
  Act act;
  std::string_view word;
  std::string_view how;
};
inline constexpr auto kActTexts = std::to_array<ActText>({
    {Act::kRead, "read", "open(O_RDONLY) of the file or of the directory's list; of an agent's socket, connect()"},
    {Act::kWrite, "write", "open(O_WRONLY) of the file, or an unnamed file in the directory (O_TMPFILE), gone at once"},
    {Act::kRemoveOthers, "remove",
     "unlink of another user's file in an empty directory with the same owner, group, mode and ACL"},
    {Act::kConnect, "connect", "connect() to the socket"},
    {Act::kMakeSocket, "make socket",
     "socket(AF_INET); of an executor, whose unit takes the network away: its running process's network namespace and "
     "seccomp filter"},
    {Act::kSignal, "signal", "kill(pid, 0) on an idle process of every other user of this table, and of root"},
    {Act::kTrace, "trace", "open of /proc/<pid>/mem and ptrace(PTRACE_SEIZE) on the same processes"},
});

enum class Expect : std::uint8_t {
  kNo,   // must be refused
  kYes,  // must work
  kMay,  // either way: gives no authority
};

struct Row {
  Target target;
  Act act;
  std::string_view label;
  std::array<Expect, kSubjects> expect;  // in the order of Subject
};

namespace cells {
// NOLINTBEGIN(readability-identifier-naming): as above
inline constexpr Expect N = Expect::kNo;
inline constexpr Expect Y = Expect::kYes;
inline constexpr Expect M = Expect::kMay;
// NOLINTEND(readability-identifier-naming)
}  // namespace cells

// An executor's own credential is "may": the file is its own, or root's and handed over by the service manager. The
// receiver knows both credentials anyway. An admin is trusted with the machine, and has no business with a secret.
// clang-format off
inline constexpr auto kMatrix = [] {
  using namespace cells;  // NOLINT(google-build-using-namespace): one-letter cells make the table readable
  return std::to_array<Row>({
    //                                                              rq agent save s-con del d-con mirror admin recv
    {Target::kSaveCredential,   Act::kRead,         "save credential: read",     {N, N, M, N, N, N, N, N, M}},
    {Target::kSaveCredential,   Act::kWrite,        "save credential: write",    {N, N, M, N, N, N, N, N, N}},
    {Target::kDeleteCredential, Act::kRead,         "delete credential: read",   {N, N, N, N, M, N, N, N, M}},
    {Target::kDeleteCredential, Act::kWrite,        "delete credential: write",  {N, N, N, N, M, N, N, N, N}},
    {Target::kPublicKeys,       Act::kRead,         "public keys: read",         {N, N, N, N, Y, N, N, M, N}},
    {Target::kPublicKeys,       Act::kWrite,        "public keys: write",        {N, N, N, N, N, N, N, N, N}},
    {Target::kSaveDrop,         Act::kRead,         "save tmp, new: list",       {Y, N, Y, N, N, N, N, M, N}},
    {Target::kSaveDrop,         Act::kWrite,        "save tmp, new: add",        {Y, N, Y, N, N, N, N, M, N}},
    {Target::kSaveDrop,         Act::kRemoveOthers, "save tmp, new: others'",    {N, N, Y, N, N, N, N, N, N}},
    {Target::kSaveHeld,         Act::kRead,         "save cur to unknown: list", {N, N, Y, N, N, N, N, Y, N}},
    {Target::kSaveHeld,         Act::kWrite,        "save cur to unknown: add",  {N, N, Y, N, N, N, N, N, N}},
    {Target::kSaveLocks,        Act::kRead,         "save slot locks: open",     {N, N, Y, N, N, N, N, N, N}},
    {Target::kSaveReceipts,     Act::kRead,         "save receipts: read",       {Y, N, Y, N, N, N, N, M, N}},
    {Target::kSaveReceipts,     Act::kWrite,        "save receipts: write",      {N, N, Y, N, N, N, N, N, N}},
    {Target::kSaveLedger,       Act::kRead,         "save ledger: read",         {N, N, Y, N, N, N, N, Y, N}},
    {Target::kSaveLedger,       Act::kWrite,        "save ledger: write",        {N, N, Y, N, N, N, N, N, N}},
    {Target::kDeleteDrop,       Act::kRead,         "delete tmp, new: list",     {Y, N, N, N, Y, N, N, M, N}},
    {Target::kDeleteDrop,       Act::kWrite,        "delete tmp, new: add",      {Y, N, N, N, Y, N, N, M, N}},
    {Target::kDeleteDrop,       Act::kRemoveOthers, "delete tmp, new: others'",  {N, N, N, N, Y, N, N, N, N}},
    {Target::kDeleteHeld,       Act::kRead,         "delete cur to unknown: list", {N, N, N, N, Y, N, N, Y, N}},
    {Target::kDeleteHeld,       Act::kWrite,        "delete cur to unknown: add", {N, N, N, N, Y, N, N, N, N}},
    {Target::kDeleteReceipts,   Act::kRead,         "delete receipts: read",     {Y, N, N, N, Y, N, N, M, N}},
    {Target::kDeleteReceipts,   Act::kWrite,        "delete receipts: write",    {N, N, N, N, Y, N, N, N, N}},
    {Target::kDeleteLedger,     Act::kRead,         "delete ledger: read",       {N, N, N, N, Y, N, N, Y, N}},
    {Target::kDeleteLedger,     Act::kWrite,        "delete ledger: write",      {N, N, N, N, Y, N, N, N, N}},
    {Target::kMarkers,          Act::kWrite,        "attempt markers: write",    {N, N, N, N, Y, N, N, N, N}},
    {Target::kTree,             Act::kWrite,        "site's own folders: add",   {N, N, N, N, N, N, N, N, N}},
    {Target::kMirror,           Act::kRead,         "git mirror: read",          {M, N, Y, N, Y, N, Y, M, N}},
    {Target::kMirror,           Act::kWrite,        "git mirror: write",         {N, N, N, N, N, N, Y, N, N}},
    {Target::kSettings,         Act::kWrite,        "settings: write",           {N, N, N, N, N, N, N, N, N}},
    {Target::kPrograms,         Act::kWrite,        "programs: write",           {N, N, N, N, N, N, N, N, N}},
    {Target::kNetwork,          Act::kMakeSocket,   "network: make socket",      {M, M, N, Y, N, Y, Y, M, M}},
    {Target::kDocker,           Act::kConnect,      "docker socket: connect",    {N, N, N, N, N, N, N, M, N}},
    {Target::kSsh,              Act::kRead,         "others' ssh keys: read",    {N, N, N, N, N, N, N, M, N}},
    {Target::kProcesses,        Act::kSignal,       "others' processes: signal", {N, N, N, N, N, N, N, N, N}},
    {Target::kProcesses,        Act::kTrace,        "others' processes: trace",  {N, N, N, N, N, N, N, N, N}},
  });
}();
// clang-format on

constexpr Expect expected(const Row& row, Subject subject) { return row.expect[static_cast<std::size_t>(subject)]; }

namespace checks {
constexpr bool texts_in_order() {
  for (std::size_t i = 0; i < kSubjectTexts.size(); ++i)
    if (static_cast<std::size_t>(kSubjectTexts[i].subject) != i) return false;
  for (std::size_t i = 0; i < kActTexts.size(); ++i)
    if (static_cast<std::size_t>(kActTexts[i].act) != i) return false;
  return kSubjectTexts.size() == kSubjects;
}
constexpr bool labels_are_unique() {
  for (std::size_t i = 0; i < kMatrix.size(); ++i)
    for (std::size_t j = i + 1; j < kMatrix.size(); ++j)
      if (kMatrix[i].label == kMatrix[j].label ||
          (kMatrix[i].target == kMatrix[j].target && kMatrix[i].act == kMatrix[j].act))
        return false;
  return true;
}
constexpr bool every_target_has_a_row() {
  for (std::size_t i = 0; i < kTargets; ++i) {
    bool found = false;
    for (const Row& row : kMatrix) found = found || static_cast<std::size_t>(row.target) == i;
    if (!found) return false;
  }
  return true;
}
// Who asks has no authority, and neither executor has the other's.
constexpr bool credentials_are_apart() {
  for (const Row& row : kMatrix) {
    if (row.target != Target::kSaveCredential && row.target != Target::kDeleteCredential) continue;
    const Subject owner = row.target == Target::kSaveCredential ? Subject::kSaveExecutor : Subject::kDeleteExecutor;
    for (const SubjectText& s : kSubjectTexts) {
      const bool may = s.subject == owner || (s.subject == Subject::kReceiver && row.act == Act::kRead);
      if ((expected(row, s.subject) != Expect::kNo) != may) return false;
    }
  }
  return true;
}
constexpr bool strangers_may_nothing() {
  for (const Row& row : kMatrix)
    if (expected(row, Subject::kStranger) != Expect::kNo && row.target != Target::kNetwork) return false;
  return true;
}
constexpr bool nobody_changes_what_decides() {
  for (const Row& row : kMatrix) {
    if (row.target != Target::kSettings && row.target != Target::kPrograms && row.target != Target::kTree) continue;
    for (const Expect e : row.expect)
      if (e != Expect::kNo) return false;
  }
  return true;
}
}  // namespace checks
static_assert(checks::texts_in_order());
static_assert(checks::labels_are_unique());
static_assert(checks::every_target_has_a_row());
static_assert(checks::credentials_are_apart());
static_assert(checks::strangers_may_nothing());
static_assert(checks::nobody_changes_what_decides());

}  // namespace intray::cli::doctor
