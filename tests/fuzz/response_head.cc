// The head of an answer, line by line, and what an answer is taken to prove. First octet: how the exchange ended; next
// two: the status.
#include <array>
#include <string>

#include "limits.h"
#include "model/outcome.h"
#include "receiver/response.h"
#include "receiver/verdict.h"
#include "target.h"

using namespace intray;

namespace {

constexpr std::array<CURLcode, 8> kResults{CURLE_OK,          CURLE_COULDNT_CONNECT,   CURLE_SSL_CONNECT_ERROR,
                                           CURLE_RECV_ERROR,  CURLE_SEND_ERROR,        CURLE_PEER_FAILED_VERIFICATION,
                                           CURLE_GOT_NOTHING, CURLE_OPERATION_TIMEDOUT};

// G3: nothing is called done or impossible that is not proved.
void check_verdict(const receiver::Facts& facts, int status, bool expected_body) {
  const model::Transport transport = receiver::transport_of(facts);
  const bool may_have_left = facts.request_begun && (facts.bytes_sent > 0 || facts.answer_begun || facts.second_try);
  if (may_have_left && !facts.grant_refused)
    CHECK(transport == model::Transport::kLost || transport == model::Transport::kAnswered);
  if (transport == model::Transport::kAnswered) CHECK(facts.result == CURLE_OK && facts.head_complete);

  const model::OutcomeRow& row = model::classify({transport, status, expected_body});
  CHECK(row.transport == transport);
  if (transport == model::Transport::kLost) CHECK(row.effect == model::Effect::kPossible);
  if (row.effect == model::Effect::kLikely) CHECK(expected_body && status >= 200 && status <= 299);
  for (const model::Next next : {row.save, row.del}) {
    const bool fails = next == model::Next::kFail || next == model::Next::kFailAndSuspend;
    if (fails) CHECK(row.effect == model::Effect::kNone);
    if (row.effect == model::Effect::kNone) CHECK(next != model::Next::kVerify);
  }
  if (row.save != model::Next::kVerify && row.save != model::Next::kRetryAfterReadBack) return;
  const model::Settled unseen = model::settle(model::JobKind::kSave, row, model::ReadBack::kUnavailable);
  CHECK(unseen.may_have_effect && (unseen.to == model::State::kRetryable || unseen.to == model::State::kUnknown));
  CHECK(model::settle(model::JobKind::kSave, row, model::ReadBack::kEqual).to == model::State::kSucceeded);
  CHECK(model::settle(model::JobKind::kSave, row, model::ReadBack::kOther).to != model::State::kSucceeded);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest = fuzz::text_of(data, size);
  if (rest.size() < 3) return 0;
  const auto how = static_cast<unsigned char>(rest[0]);
  const int status = static_cast<unsigned char>(rest[1]) * 4 + static_cast<unsigned char>(rest[2]) % 4;
  rest.remove_prefix(3);

  std::size_t held = 0;  // outlives what counts in it
  receiver::Response response;
  response.begin(1024, &held);
  std::size_t head_bytes = 0;
  bool taken = true;
  std::string_view lines = rest;
  while (taken && !lines.empty()) {
    const std::size_t end = lines.find('\n');
    const std::string_view line = lines.substr(0, end == std::string_view::npos ? end : end + 1);
    lines.remove_prefix(line.size());
    head_bytes += line.size();
    taken = response.take_header_line(line);
    CHECK(taken == (head_bytes <= limits::kAnswerHeadBytesMax));
  }
  CHECK(response.any_byte() == !rest.empty());
  const auto now = base::from_us(1'796'044'522'000'000);
  if (const auto wait = response.retry_after(now))
    CHECK(*wait >= base::Micros{0} && *wait <= base::Micros{limits::kRetryAfterMax_us});
  if (const auto idle = response.idle_limit())
    CHECK(*idle >= base::Micros{0} && *idle <= base::Micros{limits::kRetryAfterMax_us});

  const bool fits = rest.size() <= 1024;
  CHECK(response.take_body(rest) == fits);
  CHECK(held == response.body().size() && held == (fits ? rest.size() : 0));
  response.drop_body();
  CHECK(held == 0 && response.body().empty());

  const receiver::Facts facts{.result = kResults[how & 7U],
                              .error_text = rest,
                              .tls = (how & 8U) != 0,
                              .grant_refused = (how & 0xF0U) == 0xF0U,
                              .request_begun = (how & 16U) != 0,
                              .second_try = (how & 0x60U) == 0x60U,
                              .bytes_sent = (how & 16U) != 0 && (how & 32U) != 0 ? status : 0,
                              .answer_begun = response.any_byte() && (how & 16U) != 0,
                              .head_complete = response.head_complete()};
  check_verdict(facts, status, (how & 128U) != 0);
  return 0;
}
