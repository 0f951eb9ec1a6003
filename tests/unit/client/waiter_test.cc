#include "client/waiter.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <thread>

#include "../inbox/inbox_fixture.h"
#include "client/hand_off.h"

using namespace intray;
using namespace std::chrono_literals;
using client::Waiter;
using model::State;
using test::InboxFixture;
using test::value_of;

namespace {

const base::JobId kFirst = *base::JobId::parse("0b0e5b1c-1111-4222-8333-444455556666");
const base::JobId kSecond = *base::JobId::parse("1b0e5b1c-1111-4222-8333-444455556666");
const base::WallTime kCreated = *base::parse_rfc3339("2026-11-30T00:10:00Z");

model::Receipt receipt(const base::JobId& id, State state, std::int64_t seq) {
  model::Receipt r;
  r.job_id = id;
  r.job_sha256 = base::sha256("job");
  r.state = state;
  r.result = state == State::kSucceeded ? model::ResultWord::kApplied : model::ResultWord::kNoEffect;
  r.audit_seq = {seq};
  r.epoch = {1};
  r.worker_id = base::WorkerId::generate();
  return r;
}

void append(const InboxFixture& fixture, const std::string& day, const model::Receipt& r) {
  std::ofstream(fixture.path("receipts/" + day + ".jsonl"), std::ios::app) << model::to_line(r) << "\n";
}

}  // namespace

TEST_CASE("Waiter: a receipt answers only for the very bytes; a later one has the last word") {
  Waiter wait;
  wait.add(kFirst, base::sha256("job"), kCreated);
  model::Receipt other = receipt(kFirst, State::kRejected, 1);
  other.job_sha256 = base::sha256("somebody else's file under this id");
  CHECK_FALSE(wait.note(other));
  other.job_sha256 = std::nullopt;
  CHECK_FALSE(wait.note(other));
  CHECK_FALSE(wait.note(receipt(kSecond, State::kSucceeded, 2)));
  CHECK_FALSE(wait.all_ended());
  CHECK(wait.note(receipt(kFirst, State::kUnknown, 3)));
  CHECK(wait.all_ended());
  CHECK_FALSE(wait.note(receipt(kFirst, State::kSucceeded, 4)));
  CHECK_FALSE(wait.note(receipt(kFirst, State::kFailed, 2)));
  CHECK(wait.ended() == 1);
  CHECK(wait.news()->state == State::kSucceeded);
  wait.drop_news();
  CHECK(wait.news() == nullptr);
  CHECK_FALSE(wait.note(receipt(kFirst, State::kSucceeded, 4)));  // the same line again, after a crash
  CHECK(wait.news() == nullptr);
}

TEST_CASE("Waiter: other bytes under an id that was waited for start anew") {
  Waiter wait;
  wait.add(kFirst, base::sha256("job"), kCreated);
  CHECK(wait.note(receipt(kFirst, State::kSucceeded, 1)));
  wait.add(kFirst, base::sha256("job"), kCreated);
  CHECK(wait.all_ended());
  wait.add(kFirst, base::sha256("other bytes"), kCreated);
  CHECK_FALSE(wait.all_ended());
  CHECK(wait.size() == 1);
  CHECK(wait.news() == nullptr);
}

TEST_CASE("Waiter: reads from the day before a job made shortly after midnight, and each line is news once") {
  const InboxFixture fixture;
  append(fixture, "2026-11-28", receipt(kFirst, State::kFailed, 9));
  append(fixture, "2026-11-29", receipt(kFirst, State::kSucceeded, 1));  // an executor whose clock is behind
  append(fixture, "2026-11-29", receipt(kFirst, State::kSucceeded, 1));
  Waiter wait;
  wait.add(kFirst, base::sha256("job"), kCreated);
  wait.add(kSecond, base::sha256("job"), kCreated + 24h);
  value_of(wait.open(fixture.temp.path(), model::JobKind::kSave));
  CHECK(value_of(wait.poll()));
  CHECK(wait.news()->audit_seq.value == 1);
  wait.drop_news();
  CHECK_FALSE(value_of(wait.poll()));
  append(fixture, "2026-12-01", receipt(kSecond, State::kUnknown, 2));
  append(fixture, "2026-12-02", receipt(kSecond, State::kFailed, 3));
  CHECK(value_of(wait.poll()));
  CHECK(wait.all_ended());
  CHECK(wait.news()->audit_seq.value == 3);
  wait.drop_news();
}

TEST_CASE("Waiter: an append ends a pause") {
  const InboxFixture fixture;
  Waiter wait;
  wait.add(kFirst, base::sha256("job"), kCreated);
  value_of(wait.open(fixture.temp.path(), model::JobKind::kSave));
  CHECK_FALSE(value_of(wait.poll()));
  std::thread executor([&] { append(fixture, "2026-11-30", receipt(kFirst, State::kSucceeded, 1)); });
  while (!wait.all_ended()) {
    wait.pause(10s);
    value_of(wait.poll());
  }
  executor.join();
  CHECK(wait.news()->audit_seq.value == 1);
  wait.drop_news();
}

TEST_CASE("Waiter: receipts that can't be read are an error") {
  Waiter wait;
  wait.add(kFirst, base::sha256("job"), kCreated);
  CHECK(wait.open("/nonexistent", model::JobKind::kSave).error().code == base::ErrorCode::kNotFound);
}

TEST_CASE("hand_off_of: four answers, and only two of them are a promise") {
  using base::ErrorCode;
  using client::HandOff;
  CHECK(client::hand_off_of({}) == HandOff::kAccepted);
  const auto of = [](ErrorCode code) { return client::hand_off_of(base::fail(code, "x")); };
  CHECK(of(ErrorCode::kExists) == HandOff::kAlready);
  CHECK(of(ErrorCode::kOutcomeUnknown) == HandOff::kUnknown);
  for (const auto code : {ErrorCode::kInvalid, ErrorCode::kNotFound, ErrorCode::kBusy, ErrorCode::kNoSpace,
                          ErrorCode::kIo, ErrorCode::kDenied})
    CHECK(of(code) == HandOff::kNotAccepted);
}
