#include "cli/doctor/proofs.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "cli/doctor/live_proofs.h"

using namespace intray::cli::doctor;

namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The sources of a test program, as its name in `meson test` says: unit-<folder>, integration-<file>.
std::string sources_of(std::string_view program, const std::filesystem::path& tests) {
  if (program.starts_with("integration-"))
    return text_of(tests / "integration" / (std::string(program.substr(12)) + "_test.py"));
  std::string all;
  if (program.starts_with("unit-"))
    for (const auto& entry : std::filesystem::directory_iterator(tests / "unit" / program.substr(5)))
      all += text_of(entry.path());
  return all;
}

}  // namespace

TEST_CASE("proofs: the whole list, in its order") {
  constexpr auto kNames = std::to_array<std::string_view>(
      {"RQ_CREDENTIAL_FREE", "SAVE_EXECUTOR_SAVE_ONLY", "DELETE_EXECUTOR_DELETE_ONLY", "DELETE_EXECUTOR_VERIFY_ONLY",
       "NO_PRIVATE_SIGNING_KEY_IN_STACK", "NO_GENERIC_COMMAND_DISPATCH", "NO_ARBITRARY_URL", "NO_ARBITRARY_HTTP_METHOD",
       "NO_ARBITRARY_HEADERS", "NO_SHELL_EXECUTION", "JOB_DOES_NOT_EQUAL_AUTHORIZATION", "APPROVAL_REQUIRED_FOR_DELETE",
       "ATOMIC_CLAIM", "IDEMPOTENCY", "REPLAY_PROTECTION", "OUTCOME_UNKNOWN_FAIL_CLOSED"});
  CHECK(std::ranges::equal(proofs(), kNames, {}, &Proof::name));
}

TEST_CASE("proofs: every test that one names exists") {
  const char* const root = std::getenv("INTRAY_SOURCE_ROOT");
  if (root == nullptr) {
    WARN("SKIPPED: INTRAY_SOURCE_ROOT is not set");
    return;
  }
  for (const Proof& proof : proofs())
    for (const SuiteTest& test : proof.tests) {
      INFO(proof.name << ": " << test.program << ": " << test.name);
      const std::string sources = sources_of(test.program, std::filesystem::path(root) / "tests");
      CHECK(sources.find(test.program.starts_with("unit-")
                             ? "\"" + std::string(test.name) + "\""
                             : "def " + std::string(test.name) + "(") != std::string::npos);
    }
}

TEST_CASE("proofs: those on jobs and outcomes hold in this build") {
  const Scene nowhere;
  for (auto* const live :
       {no_generic_dispatch, no_arbitrary_url, no_arbitrary_method, no_arbitrary_headers, unknown_fails_closed}) {
    const Line line = live(nowhere, {});
    INFO(line.text);
    CHECK(line.status == Status::kPass);
  }
}

TEST_CASE("proofs: a hole in the matrix is a hole in what rests on it") {
  std::vector<CellRow> cells(kMatrix.size());
  for (CellRow& row : cells) row.fill({Status::kPass, false, ""});
  const Scene nowhere;
  CHECK(requester_holds_no_credential(nowhere, cells).status == Status::kPass);
  const auto row = [&](std::string_view label) {
    return static_cast<std::size_t>(std::ranges::find(kMatrix, label, &Row::label) - kMatrix.begin());
  };
  Cell& cell = cells[row("save credential: read")][static_cast<std::size_t>(Subject::kRequester)];
  cell = {Status::kSkipped, std::nullopt, "why"};
  CHECK(requester_holds_no_credential(nowhere, cells).status == Status::kSkipped);
  cell = {Status::kNotSeparated, std::nullopt, "why"};
  CHECK(requester_holds_no_credential(nowhere, cells).status == Status::kNotSeparated);
  cell = {Status::kFail, true, "opened"};
  CHECK(requester_holds_no_credential(nowhere, cells).status == Status::kFail);
}

TEST_CASE("proofs: without programs or a place to try, nothing is claimed") {
  const Scene nowhere;
  CHECK(no_shell(nowhere, {}).status == Status::kSkipped);
  CHECK(no_signing_key(nowhere, {}).status == Status::kSkipped);
  CHECK(save_executor_only_saves(nowhere, {}).status == Status::kSkipped);
  CHECK(atomic_claim(nowhere, {}).status == Status::kSkipped);
}

TEST_CASE("proofs: a program that imports a shell or a signing function, or names another route, fails") {
  Scene scene;
  scene.save_program = "/proc/self/exe";  // this test: it names what it looks for, in its strings
  scene.connector_program = "/proc/self/exe";
  CHECK(save_executor_only_saves(scene, {}).status == Status::kFail);
  CHECK(no_shell(scene, {}).status == Status::kFail);
}
