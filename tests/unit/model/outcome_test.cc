#include "model/outcome.h"

#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace intray::model {
namespace {

std::string word(Next next) {
  switch (next) {
    case Next::kWait: return "wait";
    case Next::kWaitAndSuspend: return "wait+suspend";
    case Next::kFail: return "fail";
    case Next::kFailAndSuspend: return "fail+suspend";
    case Next::kRetryLater: return "later";
    case Next::kRetryAfterReadBack: return "read-back";
    case Next::kVerify: return "verify";
    case Next::kUnknown: return "unknown";
    case Next::kUnknownAndSuspend: return "unknown+suspend";
  }
  return "?";
}

struct Expected {
  std::string save, del, reason;
  Effect effect;
  bool settle;
  bool operator==(const Expected&) const = default;
};

// The documentation's table and list of reasons once more, asked by status and not by row.
Expected expected_for_status(int status, bool expected_body) {
  const auto in = [status](std::initializer_list<int> list) { return std::set<int>(list).contains(status); };
  if (status >= 100 && status <= 199) return {"verify", "unknown", "RESPONSE_MALFORMED", Effect::kPossible, true};
  if (status >= 200 && status <= 299 && expected_body)
    return {"verify", "verify", "VERIFY_MISMATCH", Effect::kLikely, false};
  if (status >= 200 && status <= 399) return {"verify", "unknown", "RESPONSE_MALFORMED", Effect::kPossible, false};
  if (status == 401) return {"fail+suspend", "fail+suspend", "RECEIVER_UNAUTHORIZED", Effect::kNone, false};
  if (status == 403) return {"fail+suspend", "fail+suspend", "RECEIVER_FORBIDDEN", Effect::kNone, false};
  if (in({404, 410})) return {"fail", "fail", "TARGET_MISSING", Effect::kNone, false};
  if (in({409, 412})) return {"fail", "fail", "TARGET_CONFLICT", Effect::kNone, false};
  if (in({400, 405, 413, 415, 422, 431})) return {"fail", "fail", "RECEIVER_REFUSED", Effect::kNone, false};
  if (status == 429) return {"later", "fail", "RECEIVER_REFUSED", Effect::kNone, false};
  if (status == 500) return {"verify", "unknown", "RECEIVER_ERROR", Effect::kPossible, false};
  if (status >= 400 && status <= 599) return {"read-back", "unknown", "RECEIVER_ERROR", Effect::kPossible, true};
  return {"read-back", "unknown", "RESPONSE_MALFORMED", Effect::kPossible, true};
}

Expected found(const OutcomeRow& row) {
  return {word(row.save), word(row.del), std::string(to_word(row.reason)), row.effect, row.settle};
}

TEST_CASE("outcome: every status from 0 to 999 with either body is classified as documented") {
  for (int status = 0; status <= 999; ++status)
    for (const bool body : {false, true}) {
      const OutcomeRow& row = classify({Transport::kAnswered, status, body});
      INFO("status " << status << ", expected body " << body << ", row " << row.name);
      REQUIRE(found(row) == expected_for_status(status, body));
    }
  for (const int status : {-1, 1000, 1 << 30})
    CHECK(classify({Transport::kAnswered, status, true}).name == "anything-else");
}

TEST_CASE("outcome: without an answer the transport decides, whatever the status field says") {
  const std::vector<std::tuple<Transport, std::string, Expected>> cases = {
      {Transport::kNotSent, "not-sent", {"wait", "unknown", "RECEIVER_UNAVAILABLE", Effect::kNone, false}},
      {Transport::kTls, "tls", {"wait+suspend", "unknown+suspend", "RECEIVER_TLS", Effect::kNone, false}},
      {Transport::kRefused, "grant-refused", {"later", "fail", "LEASE_EXPIRED", Effect::kNone, false}},
      {Transport::kLost, "lost", {"read-back", "unknown", "RESPONSE_LOST", Effect::kPossible, true}}};
  for (const auto& [transport, name, expected] : cases)
    for (const int status : {0, 200, 404, 500, 999}) {
      const OutcomeRow& row = classify({transport, status, true});
      INFO(name << " " << status);
      CHECK(row.name == name);
      CHECK(found(row) == expected);
    }
}

TEST_CASE("outcome: every row of the table decides for some answer, and names are unique") {
  std::set<std::string_view> reached;
  for (const Transport transport :
       {Transport::kNotSent, Transport::kTls, Transport::kRefused, Transport::kLost, Transport::kAnswered})
    for (int status = 0; status <= 999; ++status)
      for (const bool body : {false, true}) reached.insert(classify({transport, status, body}).name);
  std::set<std::string_view> names;
  for (const OutcomeRow& row : outcome_rows()) CHECK(names.insert(row.name).second);
  CHECK(reached == names);
}

std::string told(const Settled& s) {
  return std::string(to_word(s.to)) + " " + (s.reason ? std::string(to_word(*s.reason)) : "-") + " " +
         (s.result ? std::string(to_word(*s.result)) : "-") + (s.may_have_effect ? " maybe" : "");
}

struct ReadBacks {
  std::string equal, other, unavailable;
};

// Every row that reads back a SAVE, with its three ends.
const std::vector<std::pair<Answer, ReadBacks>>& save_ends() {
  static const std::string observed = "SUCCEEDED - OBSERVED_APPLIED";
  static const std::vector<std::pair<Answer, ReadBacks>> ends = {
      {{Transport::kLost, 0, false}, {observed, "RETRYABLE RESPONSE_LOST -", "RETRYABLE RESPONSE_LOST - maybe"}},
      {{Transport::kAnswered, 100, false},
       {observed, "OUTCOME_UNKNOWN RESPONSE_MALFORMED UNKNOWN maybe",
        "OUTCOME_UNKNOWN RESPONSE_MALFORMED UNKNOWN maybe"}},
      {{Transport::kAnswered, 200, true},
       {"SUCCEEDED - APPLIED", "OUTCOME_UNKNOWN VERIFY_MISMATCH UNKNOWN maybe",
        "OUTCOME_UNKNOWN VERIFY_UNAVAILABLE UNKNOWN maybe"}},
      {{Transport::kAnswered, 200, false},
       {observed, "OUTCOME_UNKNOWN RESPONSE_MALFORMED UNKNOWN maybe",
        "OUTCOME_UNKNOWN RESPONSE_MALFORMED UNKNOWN maybe"}},
      {{Transport::kAnswered, 302, false},
       {observed, "OUTCOME_UNKNOWN RESPONSE_MALFORMED UNKNOWN maybe",
        "OUTCOME_UNKNOWN RESPONSE_MALFORMED UNKNOWN maybe"}},
      {{Transport::kAnswered, 408, false},
       {observed, "RETRYABLE RECEIVER_ERROR -", "RETRYABLE RECEIVER_ERROR - maybe"}},
      {{Transport::kAnswered, 418, false},
       {observed, "RETRYABLE RECEIVER_ERROR -", "RETRYABLE RECEIVER_ERROR - maybe"}},
      {{Transport::kAnswered, 425, false},
       {observed, "RETRYABLE RECEIVER_ERROR -", "RETRYABLE RECEIVER_ERROR - maybe"}},
      {{Transport::kAnswered, 500, false},
       {observed, "FAILED RECEIVER_ERROR NO_EFFECT", "OUTCOME_UNKNOWN RECEIVER_ERROR UNKNOWN maybe"}},
      {{Transport::kAnswered, 502, false},
       {observed, "RETRYABLE RECEIVER_ERROR -", "RETRYABLE RECEIVER_ERROR - maybe"}},
      {{Transport::kAnswered, 503, false},
       {observed, "RETRYABLE RECEIVER_ERROR -", "RETRYABLE RECEIVER_ERROR - maybe"}},
      {{Transport::kAnswered, 777, false},
       {observed, "RETRYABLE RESPONSE_MALFORMED -", "RETRYABLE RESPONSE_MALFORMED - maybe"}}};
  return ends;
}

TEST_CASE("outcome: a read-back settles every SAVE that asks for one as documented") {
  std::set<std::string_view> covered;
  for (const auto& [answer, ends] : save_ends()) {
    const OutcomeRow& row = classify(answer);
    INFO(row.name);
    covered.insert(row.name);
    CHECK(told(settle(JobKind::kSave, row, ReadBack::kEqual)) == ends.equal);
    CHECK(told(settle(JobKind::kSave, row, ReadBack::kOther)) == ends.other);
    CHECK(told(settle(JobKind::kSave, row, ReadBack::kUnavailable)) == ends.unavailable);
  }
  for (const OutcomeRow& row : outcome_rows()) {
    INFO(row.name);
    const bool asks = row.save == Next::kVerify || row.save == Next::kRetryAfterReadBack;
    CHECK(covered.contains(row.name) == asks);
    CHECK(row.on_other.has_value() == asks);
    CHECK((row.effect == Effect::kNone) == !asks);
  }
}

TEST_CASE("outcome: a DELETE is verified after its expected answer only, and is never made retryable") {
  for (const OutcomeRow& row : outcome_rows()) {
    INFO(row.name);
    CHECK(row.del != Next::kRetryLater);
    CHECK(row.del != Next::kRetryAfterReadBack);
    CHECK(row.del != Next::kWait);
    CHECK((row.del == Next::kVerify) == (row.name == "2xx-expected"));
    if (row.del == Next::kUnknown || row.del == Next::kUnknownAndSuspend) {
      for (const ReadBack read : {ReadBack::kEqual, ReadBack::kOther, ReadBack::kUnavailable})
        CHECK(told(settle(JobKind::kDelete, row, read)) ==
              "OUTCOME_UNKNOWN " + std::string(to_word(row.reason)) + " UNKNOWN maybe");
    }
  }
  const OutcomeRow& done = classify({Transport::kAnswered, 200, true});
  CHECK(told(settle(JobKind::kDelete, done, ReadBack::kEqual)) == "SUCCEEDED - APPLIED");
  CHECK(told(settle(JobKind::kDelete, done, ReadBack::kOther)) == "OUTCOME_UNKNOWN VERIFY_MISMATCH UNKNOWN maybe");
  CHECK(told(settle(JobKind::kDelete, done, ReadBack::kUnavailable)) ==
        "OUTCOME_UNKNOWN VERIFY_UNAVAILABLE UNKNOWN maybe");
}

}  // namespace
}  // namespace intray::model
