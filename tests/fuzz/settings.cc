// An executor's settings file.
#include <string>

#include "config/settings.h"
#include "config_error.h"
#include "receiver/descriptor_pool.h"
#include "source/source.h"
#include "target.h"

using namespace intray;

namespace {

void check_bounds(const config::Settings& s) {
  CHECK(s.limits.slots >= 1 && s.limits.in_flight >= 1 && s.retry.attempts_max >= 1);
  CHECK(s.limits.waiting >= 1 && s.limits.per_requester >= 1 && s.limits.backlog >= 1);
  CHECK(!s.source.branches.empty() && !s.source.mirror.empty() && !s.receiver.url.empty() && !s.tenant.empty());
  CHECK(s.user_mode || !s.requester_uids.empty());
  for (const base::Micros time :
       {s.receiver.connect_timeout, s.receiver.total_timeout, s.receiver.low_speed_window, s.timing.lease,
        s.timing.renewal, s.timing.grant, s.timing.stop, s.job_deadline, s.job_max_age, s.retry.first_wait})
    CHECK(time > base::Micros{0});
  CHECK(s.receiver.settle >= base::Micros{0} && s.source.max_age >= base::Micros{0});
  CHECK(s.timing.grant <= base::Micros{30'000'000} && s.timing.lease <= base::Micros{300'000'000});
  CHECK(s.source.content_bytes_max > 0 && s.receiver.low_speed_bytes >= 0);
  // What the file's check lets pass, its user takes.
  const auto endpoint = receiver::parse_endpoint(s.receiver.url);
  CHECK(endpoint && endpoint->tls == s.receiver.url.starts_with("https://"));
  if (!endpoint->tls)
    CHECK(s.receiver.allow_plaintext || endpoint->host.starts_with("127.") || endpoint->host == "localhost" ||
          endpoint->host == "::1");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(fuzz::text_of(data, size));
  const auto settings = config::parse_settings(text, fuzz::kFileName, model::JobKind::kSave);
  if (!settings) {
    fuzz::check_config_error(settings.error());
    return 0;
  }
  check_bounds(*settings);
  // Every setting printed as `config check` does makes a file that says the same.
  const auto printed = config::effective(*settings, text);
  std::string again;
  for (const config::EffectiveSetting& line : printed) {
    CHECK(fuzz::is_one_plain_line(line.value));
    again += line.key + " = " + line.value + "\n";
  }
  const auto reread = config::parse_settings(again, fuzz::kFileName, model::JobKind::kSave);
  CHECK(reread);
  const auto reprinted = config::effective(*reread, again);
  CHECK(printed.size() == reprinted.size());
  for (std::size_t i = 0; i < printed.size(); ++i)
    CHECK(printed[i].key == reprinted[i].key && printed[i].value == reprinted[i].value);
  return 0;
}
