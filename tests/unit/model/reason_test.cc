#include "model/reason.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <string>

namespace intray::model {
namespace {

bool is_upper_snake(std::string_view word) {
  return !word.empty() && word.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == std::string_view::npos;
}

// The closed list of the contract, in its order.
constexpr std::string_view kWords =
    "MALFORMED_JSON NOT_CANONICAL OVERSIZED EMPTY_FILE BAD_FILE_TYPE BAD_FILE_NAME BAD_FILE_OWNER UNKNOWN_VERSION "
    "UNKNOWN_JOB_TYPE UNKNOWN_MEMBER MISSING_MEMBER BAD_TYPE BAD_VALUE UNSAFE_PATH PATH_COLLISION CREATED_IN_FUTURE "
    "JOB_TOO_OLD STALE_MISSION JOB_ID_CONFLICT IDEMPOTENCY_KEY_CONFLICT UNREADABLE_FILE WITHDRAWN SOURCE_UNAVAILABLE "
    "UNKNOWN_COMMIT COMMIT_NOT_ON_BRANCH UNKNOWN_OBJECT OBJECT_ID_MISMATCH STATE_MISMATCH PROVENANCE_MISMATCH "
    "STALE_SOURCE CONTENT_NOT_TEXT CONTENT_TOO_LARGE SECRET_DETECTED STILL_PRESENT_AT_HEAD NOT_DELETED_IN_COMMIT "
    "AMBIGUOUS_OBJECT APPROVAL_MISSING APPROVAL_MALFORMED APPROVAL_BAD_SIGNATURE APPROVAL_UNTRUSTED_KEY "
    "APPROVAL_MISMATCH APPROVAL_NOT_YET_VALID APPROVAL_EXPIRED APPROVAL_CONSUMED APPROVAL_REVOKED NONCE_REUSED "
    "CREDENTIAL_MISSING RECEIVER_UNAVAILABLE RECEIVER_TLS RECEIVER_UNAUTHORIZED RECEIVER_FORBIDDEN TARGET_MISSING "
    "TARGET_CONFLICT TARGET_DRIFT RECEIVER_REFUSED RECEIVER_ERROR RESPONSE_MALFORMED RESPONSE_LOST VERIFY_MISMATCH "
    "VERIFY_UNAVAILABLE RETRIES_EXHAUSTED DEADLINE_EXCEEDED LEDGER_UNAVAILABLE INVALID_TRANSITION LEASE_EXPIRED "
    "WORKER_DIED STALE_EPOCH GATE_BLOCKED MARKER_UNAVAILABLE POISON_JOB LEASE_HELD TAKEOVER_REQUIRED TAKEOVER_DENIED "
    "EPOCH_MISMATCH STALE_LEASE POLICY_DENIED GRANT_DENIED";

TEST_CASE("reason: the words are the contract's closed list, each with its enumerator") {
  std::string words;
  for (const ReasonDoc& doc : all_reasons()) words += (words.empty() ? "" : " ") + std::string(doc.word);
  CHECK(words == kWords);
  for (const ReasonDoc& doc : all_reasons()) {
    INFO(doc.word);
    CHECK(is_upper_snake(doc.word));
    CHECK(&doc_of(doc.reason) == &doc);
    CHECK(to_word(doc.reason) == doc.word);
    CHECK(parse_reason(doc.word) == doc.reason);
  }
  CHECK(to_word(Reason::kUnsafePath) == "UNSAFE_PATH");
  CHECK(to_word(Reason::kResponseLost) == "RESPONSE_LOST");
  for (const std::string_view other : {"", "unsafe_path", "UNSAFE_PATH ", "UNSAFE"}) CHECK(!parse_reason(other));
}

TEST_CASE("reason: few refusals are about the job alone and not about what it asks for") {
  std::string words;
  for (const ReasonDoc& doc : all_reasons())
    if (is_about_job_alone(doc.reason)) words += (words.empty() ? "" : " ") + std::string(doc.word);
  CHECK(words == "CREATED_IN_FUTURE JOB_TOO_OLD STALE_MISSION DEADLINE_EXCEEDED");
}

TEST_CASE("reason: every code says what happened and what to do, in whole sentences of its own") {
  std::set<std::string_view> seen;
  for (const ReasonDoc& doc : all_reasons()) {
    INFO(doc.word);
    CHECK(doc.what_happened.size() > 30);
    CHECK(doc.what_to_do.size() > 30);
    CHECK(doc.what_happened.ends_with('.'));
    CHECK(doc.what_to_do.ends_with('.'));
    CHECK(doc.what_happened.find(". ") == std::string_view::npos);  // one sentence
    for (const std::string_view text : {doc.what_happened, doc.what_to_do}) {
      CHECK(text.find("  ") == std::string_view::npos);
      CHECK(text.find_first_of("\n\t") == std::string_view::npos);
      CHECK(std::count(text.begin(), text.end(), '`') % 2 == 0);
    }
    CHECK(seen.insert(doc.what_happened).second);
  }
}

TEST_CASE("reason: an effect that is possible is never called nothing, and sends the admin to look") {
  for (const ReasonDoc& doc : all_reasons()) {
    INFO(doc.word);
    const bool says_nothing = doc.what_to_do.find("Nothing was sent") != std::string_view::npos ||
                              doc.what_to_do.find("Nothing was changed.") != std::string_view::npos;
    if (doc.effect != EffectPossible::kNo) {
      CHECK(!says_nothing);
      CHECK(doc.what_to_do.find("`intray resolve") != std::string_view::npos);
    }
  }
}

// The commands of the tool: documentation that names another one sends an admin into the void.
TEST_CASE("reason: only commands that exist are named") {
  const std::set<std::string> commands = {"submit", "show",      "log",    "health", "fsck",
                                          "config", "resolve",   "resume", "clock",  "approval",
                                          "gate",   "reconcile", "backup", "init",   "withdraw"};
  for (const ReasonDoc& doc : all_reasons()) {
    for (const std::string_view text : {doc.what_happened, doc.what_to_do}) {
      constexpr std::string_view kCall = "`intray ";
      for (auto at = text.find(kCall); at != std::string_view::npos; at = text.find(kCall, at + 1)) {
        const std::string_view rest = text.substr(at + kCall.size());
        const std::string command(rest.substr(0, rest.find_first_of(" `")));
        INFO(doc.word << " names " << command);
        CHECK(commands.contains(command));
      }
    }
  }
}

TEST_CASE("reason: result words round-trip and are explained") {
  constexpr std::string_view kResultWords[] = {"APPLIED",          "ALREADY_AT_TARGET", "IDEMPOTENT_REPLAY",
                                               "OBSERVED_APPLIED", "RESOLVED_APPLIED",  "RESOLVED_NOT_APPLIED",
                                               "NO_EFFECT",        "DELETE_DENIED",     "REFUSED",
                                               "UNKNOWN"};
  int i = 0;
  for (const std::string_view word : kResultWords) {
    INFO(word);
    const auto result = parse_result(word);
    REQUIRE(result);
    CHECK(static_cast<int>(*result) == i++);
    CHECK(to_word(*result) == word);
    CHECK(explain(*result).ends_with('.'));
  }
  CHECK(!parse_result(""));
  CHECK(!parse_result("applied"));
}

}  // namespace
}  // namespace intray::model
