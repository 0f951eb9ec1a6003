#include "cli/doctor/self_test.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/escape.h"
#include "sys/identity.h"

namespace intray::cli::doctor {
namespace {

constexpr int kUsageExit = 2;
constexpr int kSelfTestExit = 70;  // of executors: self-test or lock-down failed

std::string text_of(const nlohmann::json& object, const char* member) {
  const auto at = object.find(member);
  return at != object.end() && at->is_string() ? base::escape(at->get<std::string>()) : std::string();
}

}  // namespace

std::vector<Line> read_self_test(std::string_view program, int exit_code, std::string_view output) {
  const std::string name(program);
  const auto one = [&](Status status, std::string text) {
    return std::vector<Line>{{.status = status, .name = name, .text = std::move(text), .shown_by = {}}};
  };
  if (exit_code == kUsageExit) return one(Status::kNotYet, "this version has no --self-test");
  const nlohmann::json answer = nlohmann::json::parse(output, nullptr, false);
  const auto checks = answer.is_object() ? answer.find("checks") : answer.end();
  const bool whole = answer.is_object() && checks != answer.end() && checks->is_array();
  if (!whole && exit_code != 0 && exit_code != kSelfTestExit)
    return one(Status::kSkipped, fmt::format("its self-test could not run: it ended with {}", exit_code));
  if (!whole) return one(Status::kFail, "its self-test gave no answer that can be read");
  std::vector<Line> out;
  const std::string status = text_of(answer, "status");
  const auto abi = answer.find("landlock_abi");
  out.push_back(
      {.status = exit_code != 0 || (status != "full" && status != "reduced") ? Status::kFail
                 : status == "reduced"                                       ? Status::kWarn
                                                                             : Status::kPass,
       .name = name,
       .text = fmt::format(
           "confinement {}{}{}", status.empty() ? "not told" : status,
           abi != answer.end() && abi->is_number_integer() ? fmt::format(", Landlock ABI {}", abi->get<int>()) : "",
           exit_code == 0 ? "" : fmt::format("; it would not start (exit {})", exit_code)),
       .shown_by = {}});
  for (const nlohmann::json& check : *checks) {
    const std::string result = check.is_object() ? text_of(check, "result") : "";
    out.push_back({.status = result == "pass" ? Status::kPass : Status::kFail,
                   .name = check.is_object() ? text_of(check, "name") : "?",
                   .text = check.is_object() ? text_of(check, "how") : "not an object",
                   .shown_by = {}});
  }
  return out;
}

std::vector<Line> executor_self_tests(const Scene& scene) {
  const auto skipped = [](std::string why) {
    return std::vector<Line>{
        {.status = Status::kSkipped, .name = "intray-save", .text = std::move(why), .shown_by = {}}};
  };
  if (scene.save_program.empty()) return skipped("it was not found beside this program");
  if (!scene.save) return skipped("the settings can't be read");
  sys::Identity identity;
  if (scene.user_mode) {
    identity = {.uid = scene.owners->executor_uid, .gid = scene.owners->admin_gid, .groups = {}};
  } else {
    const SubjectSet& executor = scene.of(Subject::kSaveExecutor);
    if (executor.missing) return skipped(executor.missing->why);
    identity = executor.people.front().identity;
  }
  if (identity.uid == 0) return skipped("executors refuse to run as root, and this site is root's");
  if (!sys::can_become(identity)) return skipped("only root can run it as its user");
  const auto output = sys::run_as(identity, scene.save_program, {"--config", scene.site.save_config, "--self-test"});
  if (!output) return skipped(base::escape(output.error().what));
  if (output->signal != 0)
    return {{.status = Status::kFail,
             .name = "intray-save",
             .text = fmt::format("its self-test died by signal {}", output->signal),
             .shown_by = {}}};
  return read_self_test("intray-save", output->exit_code, output->text);
}

}  // namespace intray::cli::doctor
