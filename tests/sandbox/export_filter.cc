// export_filter ROLE: the filter of save or connector as pseudo code, with fixed numbers for what the running program
// knows. For a person who reviews a change of a policy, and for the test that holds it to the committed text.
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstring>

#include "sys/seccomp_filter.h"
#include "sys/seccomp_tables.h"

namespace {

using intray::sys::FilterValue;

// Two of each that may have several: an expansion that forgets one shows.
constexpr auto kSaveValues = std::to_array<FilterValue>({
    {"removable", 9},
    {"new", 10},
    {"removable", 10},
    {"slot", 11},
    {"removable", 11},
    {"cur", 12},
    {"final", 13},
    {"final", 14},
    {"receipts", 17},
    {"file_mode", 0640},
    {"epoll", 20},
    {"timer", 21},
    {"channel", 22},
    {"last_opened", 47},
    {"pid", 1000},
});
constexpr auto kConnectorValues = std::to_array<FilterValue>({
    {"family", 2},
    {"address_bytes", 16},
    {"channel", 3},
    {"last_opened", 3},
});

}  // namespace

int main(int count, char** arguments) {
  namespace sys = intray::sys;
  const bool save = count == 2 && std::strcmp(arguments[1], "save") == 0;
  if (!save && (count != 2 || std::strcmp(arguments[1], "connector") != 0)) return 2;
  const sys::FilterError failed =
      sys::export_filter({.rules = save ? sys::kSave : sys::kConnector,
                          .rule_count = save ? sys::kSaveCount : sys::kConnectorCount,
                          .values = save ? kSaveValues.data() : kConnectorValues.data(),
                          .value_count = save ? kSaveValues.size() : kConnectorValues.size()},
                         STDOUT_FILENO);
  if (failed.step == nullptr) return 0;
  std::fprintf(stderr, "export_filter: %s %s\n", failed.step, failed.call);
  return 1;
}
