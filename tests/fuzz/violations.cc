// A line of the kernel's log, in which processes have chosen some of the words.
#include <string>

#include "cli/violations.h"
#include "target.h"

using namespace intray;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view line = fuzz::text_of(data, size);
  const auto violation = cli::parse_violation(line);
  if (!violation) return 0;
  CHECK(line.find("type=1326 ") != std::string_view::npos);
  CHECK(violation->program == "intray-save" || violation->program == "intray-delete" ||
        violation->program == "intray-connecto");
  CHECK(violation->pid >= 0 && violation->uid >= 0 && violation->signal >= 0);
  return 0;
}
