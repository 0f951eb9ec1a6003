#include "cli/doctor/proofs.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/doctor/live_proofs.h"

namespace intray::cli::doctor {

const std::vector<Proof>& proofs() {
  static const std::vector<Proof> all = {
      {"RQ_CREDENTIAL_FREE",
       requester_holds_no_credential,
       false,
       {{"integration-doctor", "test_a_sound_site_passes"},
        {"integration-main_path", "test_the_credential_occurs_nowhere"}}},
      {"SAVE_EXECUTOR_SAVE_ONLY",
       save_executor_only_saves,
       false,
       {{"integration-main_path", "test_requests_carry_exactly_what_the_contract_says"}}},
      {"DELETE_EXECUTOR_DELETE_ONLY", nullptr, true, {}},
      {"DELETE_EXECUTOR_VERIFY_ONLY", nullptr, true, {}},
      {"NO_PRIVATE_SIGNING_KEY_IN_STACK", no_signing_key, false, {}},
      {"NO_GENERIC_COMMAND_DISPATCH",
       no_generic_dispatch,
       false,
       {{"unit-model", "job: a SAVE that breaks one rule is refused with that rule's code"}}},
      {"NO_ARBITRARY_URL",
       no_arbitrary_url,
       false,
       {{"integration-main_path", "test_requests_carry_exactly_what_the_contract_says"},
        {"unit-receiver", "a redirect is an answer, not an order"}}},
      {"NO_ARBITRARY_HTTP_METHOD",
       no_arbitrary_method,
       false,
       {{"integration-main_path", "test_requests_carry_exactly_what_the_contract_says"}}},
      {"NO_ARBITRARY_HEADERS",
       no_arbitrary_headers,
       false,
       {{"unit-receiver", "a save goes out once, with exactly the fixed headers, and its success is recognized"}}},
      {"NO_SHELL_EXECUTION", no_shell, false, {}},
      {"JOB_DOES_NOT_EQUAL_AUTHORIZATION",
       nullptr,
       false,
       {{"integration-bad_input", "test_what_git_does_not_confirm_is_rejected_and_the_rest_goes_on"},
        {"unit-executor_save", "gate 2: a commit on no configured branch has no authority"}}},
      {"APPROVAL_REQUIRED_FOR_DELETE", nullptr, true, {}},
      {"ATOMIC_CLAIM",
       atomic_claim,
       false,
       {{"unit-inbox", "take: two workers never get the same file"},
        {"integration-crash", "test_a_second_worker_finds_the_slot_held"}}},
      {"IDEMPOTENCY",
       nullptr,
       false,
       {{"integration-bad_input", "test_the_idempotency_table"},
        {"integration-main_path", "test_a_second_submission_saves_nothing_again"}}},
      {"REPLAY_PROTECTION",
       nullptr,
       false,
       {{"unit-ledger", "idempotency: same job_id, same bytes, ended: the very same receipt is issued again"},
        {"unit-lease", "a grant is for its attempt and one use, and rereads the lease at that moment"}}},
      {"OUTCOME_UNKNOWN_FAIL_CLOSED",
       unknown_fails_closed,
       false,
       {{"unit-model", "outcome: a read-back settles every SAVE that asks for one as documented"},
        {"unit-ledger", "idempotency: a follower of a job in OUTCOME_UNKNOWN waits, past every deadline"}}},
  };
  return all;
}

std::vector<Line> prove(const Scene& scene, const std::vector<CellRow>& cells) {
  std::vector<Line> out;
  for (const Proof& proof : proofs()) {
    Line line{.status = Status::kSuite, .name = {}, .text = "not tried here; the suite shows it", .shown_by = {}};
    if (proof.of_delete && !scene.delete_installed)
      line = {
          .status = Status::kNotYet, .name = {}, .text = "the delete executor is not installed here", .shown_by = {}};
    else if (proof.live != nullptr)
      line = proof.live(scene, cells);
    else if (proof.tests.empty())
      line = {.status = Status::kNotYet, .name = {}, .text = "nothing shows it yet", .shown_by = {}};
    line.name = std::string(proof.name);
    for (const SuiteTest& test : proof.tests)
      line.shown_by += fmt::format("{}{}: {}", line.shown_by.empty() ? "" : "; ", test.program, test.name);
    out.push_back(std::move(line));
  }
  return out;
}

}  // namespace intray::cli::doctor
