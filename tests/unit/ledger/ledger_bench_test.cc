// Measures the ledger's part of a drain: batches of jobs through their three durable points. Hidden; run by hand:
//   LEDGER_BENCH_BATCHES=200 LEDGER_BENCH_SIZE=64 ledger_test '[bench]'
#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "ledger_site.h"

namespace intray::test {
namespace {

double cpu_us() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}
double wall_us() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

struct Meter {
  const char* name;
  double cpu = 0;
  double wall = 0;
  template <class F>
  auto measure(F f) {
    const double c = cpu_us();
    const double w = wall_us();
    auto value = f();
    cpu += cpu_us() - c;
    wall += wall_us() - w;
    return value;
  }
};

void drain(int batches, int size) {
  LedgerSite site;
  Meter admit{"admit+claim"};
  Meter history{"save history"};
  Meter start{"start"};
  Meter finish{"finish"};
  const auto commits = site->counters().commits;
  for (int i = 0; i < batches; ++i) {
    ledger::Batch one;
    for (int j = 0; j < size; ++j) one.admits.push_back(site.job());
    const auto admitted = admit.measure([&] { return site.commit(one); }).admitted;
    ledger::Batch two;
    ledger::Batch three;
    for (const auto& job : admitted) {
      const Hand hand{job.job->seq, *job.job->claim_id};
      two.starts.push_back(site.start_of(hand, std::to_string(hand.seq.value)));
      auto& end =
          three.finishes.emplace_back(site.finish_of(hand, model::Event::kConfirm, model::ResultWord::kApplied));
      end.evidence.http_status = 200;
      end.evidence.observed_sha256 = two.starts.back().content_sha256;
    }
    history.measure([&] {
      for (std::size_t j = 0; j < admitted.size(); ++j) {
        const auto& facts = admitted[j].job->facts;
        value_of(site->last_applied(facts.object_id, facts.vault_path));
        value_of(site->effect_applied(two.starts[j].effect_key));
      }
      return 0;
    });
    start.measure([&] { return site.commit(two); });
    finish.measure([&] { return site.commit(three); });
    site.clock.advance(std::chrono::milliseconds{10});
    site.held = *value_of(site->heartbeat(site.held, kTtl));
  }
  const double jobs = static_cast<double>(batches) * size;
  double cpu = 0;
  double wall = 0;
  for (const Meter* meter : {&admit, &history, &start, &finish}) {
    std::printf("%-14s %7.1f us CPU a job  %7.1f us wall a job\n", meter->name, meter->cpu / jobs, meter->wall / jobs);
    cpu += meter->cpu / jobs;
    wall += meter->wall / jobs;
  }
  std::printf("%-14s %7.1f us CPU a job  %7.1f us wall a job\n", "together", cpu, wall);
  std::printf("%d jobs, %lld commits\n", static_cast<int>(jobs),
              static_cast<long long>(site->counters().commits - commits));
  std::printf(
      "%lld bytes a job in the database\n",
      static_cast<long long>(site.number("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")) /
          static_cast<long long>(jobs));
}

}  // namespace
}  // namespace intray::test

TEST_CASE("bench: a drain through the three durable points", "[.bench]") {
  const auto setting = [](const char* name, int otherwise) {
    const char* value = std::getenv(name);
    return value == nullptr ? otherwise : std::atoi(value);
  };
  intray::test::drain(setting("LEDGER_BENCH_BATCHES", 200), setting("LEDGER_BENCH_SIZE", 64));
}
