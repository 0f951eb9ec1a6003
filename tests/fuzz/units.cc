// Durations, sizes and points in time: what was read is printed so that it reads back the same.
#include "config/units.h"
#include "base/clock.h"
#include "target.h"

using namespace intray;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  if (const auto duration = config::parse_duration(text)) {
    CHECK(*duration >= base::Micros{0});
    const std::string printed = config::format_duration(*duration);
    CHECK(printed == "0" ? *duration == base::Micros{0} : config::parse_duration(printed) == *duration);
  }
  if (const auto bytes = config::parse_size(text)) {
    CHECK(*bytes >= 0);
    CHECK(config::parse_size(config::format_size(*bytes)) == *bytes);
  }
  if (const auto time = base::parse_rfc3339(text)) {
    const std::string printed = base::format_rfc3339(*time);
    CHECK(base::to_us(*time) >= 0 && base::parse_rfc3339(printed) == *time);
    CHECK(text.size() <= printed.size() && printed.starts_with(text.substr(0, text.size() - 1)));
  }
  return 0;
}
