#include "cli/doctor/live_proofs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <span>

#include "base/escape.h"
#include "cli/doctor/probe.h"
#include "cli/roles.h"
#include "limits.h"
#include "model/outcome.h"
#include "model/state.h"
#include "sys/dir.h"
#include "sys/identity.h"
#include "sys/program.h"
#include "sys/race.h"

namespace intray::cli::doctor {
namespace {

Line line(Status status, std::string text) {
  return {.status = status, .name = {}, .text = std::move(text), .shown_by = {}};
}

// The worst of the cells of these targets and subjects; NOT YET counts as nothing where something was tried.
Line from_cells(const std::vector<CellRow>& cells, const std::vector<Target>& targets,
                const std::vector<Subject>& subjects, const std::string& claim) {
  int passed = 0;
  for (std::size_t r = 0; r < cells.size(); ++r) {
    if (std::ranges::find(targets, kMatrix[r].target) == targets.end()) continue;
    for (const Subject s : subjects) {
      const Cell& cell = cells[r][static_cast<std::size_t>(s)];
      const std::string who = fmt::format("{}, {}", kSubjectTexts[static_cast<std::size_t>(s)].word, kMatrix[r].label);
      if (cell.status == Status::kFail) return line(Status::kFail, who + ": " + cell.why);
      if (cell.status == Status::kSkipped || cell.status == Status::kNotSeparated)
        return line(cell.status, who + ": " + cell.why);
      if (cell.status == Status::kPass) ++passed;
    }
  }
  if (passed == 0) return line(Status::kSkipped, "nothing of it could be tried");
  return line(Status::kPass, fmt::format("{} ({} tries of the matrix above)", claim, passed));
}

struct ProgramText {
  std::string path;
  std::string bytes;
  std::vector<std::string> imports;
};

base::Result<ProgramText> load(const std::string& path) {
  if (path.empty()) return base::fail(base::ErrorCode::kNotFound, "the program was not found beside this one");
  ProgramText out{.path = path, .bytes = INTRAY_TRY(sys::read_file(path, limits::kProgramBytesMax)), .imports = {}};
  auto imports = sys::imported_symbols(out.bytes);
  if (!imports) return std::unexpected(base::with_context(std::move(imports).error(), path));
  out.imports = std::move(*imports);
  return out;
}

// The first of these functions that the program takes from a library.
std::string first_import(const ProgramText& program, std::span<const std::string_view> names) {
  for (const std::string& import : program.imports)
    if (std::ranges::find(names, import) != names.end()) return import;
  return {};
}

constexpr auto kSigningFunctions = std::to_array<std::string_view>(
    {"crypto_sign", "crypto_sign_detached", "crypto_sign_final_create", "crypto_sign_keypair",
     "crypto_sign_seed_keypair", "EVP_DigestSign", "EVP_DigestSignInit", "EVP_SignFinal"});
constexpr auto kShellFunctions = std::to_array<std::string_view>(
    {"system", "popen", "wordexp", "execl", "execlp", "execle", "execv", "execvp", "execvpe"});
constexpr auto kKeyMarks =
    std::to_array<std::string_view>({"PRIVATE KEY-----", "PRIVATE KEY BLOCK-----", "minisign encrypted secret key",
                                     "rsign encrypted secret key", "signify secret key", "AGE-SECRET-KEY-1"});

// "": no private key in any file below; else the file. `count` files were read.
std::string find_key(const std::string& folder, std::size_t& count, bool& whole) {
  std::error_code error;
  auto at = std::filesystem::recursive_directory_iterator(folder, error);
  if (error) {
    whole = whole && error == std::errc::no_such_file_or_directory;
    return {};
  }
  for (; at != std::filesystem::recursive_directory_iterator(); at.increment(error)) {
    if (error || count >= limits::kSearchedFilesMax) {
      whole = false;
      return {};
    }
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(at->symlink_status(ignored))) continue;
    const auto text = sys::read_file(at->path().string(), limits::kSearchedFileBytesMax);
    if (!text) {
      whole = whole && text.error().code == base::ErrorCode::kInvalid;  // larger than any key
      continue;
    }
    ++count;
    for (const std::string_view mark : kKeyMarks)
      if (text->contains(mark)) return at->path().string();
  }
  return {};
}

}  // namespace

Line requester_holds_no_credential(const Scene&, const std::vector<CellRow>& cells) {
  return from_cells(cells, {Target::kSaveCredential, Target::kDeleteCredential, Target::kPublicKeys},
                    {Subject::kRequester, Subject::kStranger},
                    "neither requester nor agent can open a credential, or its folder for writing");
}

Line save_executor_only_saves(const Scene& scene, const std::vector<CellRow>& cells) {
  const auto program = load(scene.save_program);
  if (!program) return line(Status::kSkipped, program.error().what);
  const std::string name = base::escape(program->path);
  if (!program->bytes.contains("/api/vault/save"))
    return line(Status::kFail, name + ": does not even name the save route; is this the program?");
  for (const std::string_view route : {"/api/vault/delete", "/api/vault/move", "/api/vault/rename"})
    if (program->bytes.contains(route)) return line(Status::kFail, fmt::format("{}: names {}", name, route));
  if (!scene.delete_installed)
    return line(Status::kPass, name + " names the save and the read route and no other; DELETE is not installed");
  Line reach =
      from_cells(cells, {Target::kDeleteCredential, Target::kDeleteDrop, Target::kDeleteHeld, Target::kDeleteLedger},
                 {Subject::kSaveExecutor}, name + " names no DELETE route, and its user reaches nothing of DELETE's");
  return reach;
}

Line no_signing_key(const Scene& scene, const std::vector<CellRow>&) {
  for (const std::string& path : {scene.save_program, scene.connector_program}) {
    const auto program = load(path);
    if (!program) return line(Status::kSkipped, program.error().what);
    if (const std::string function = first_import(*program, kSigningFunctions); !function.empty())
      return line(Status::kFail, base::escape(path) + ": imports " + function);
  }
  std::vector<std::string> folders{scene.site.config_dir};
  for (const char* const user :
       {kSaveUser, kSaveConnectorUser, kDeleteUser, kDeleteConnectorUser, kMirrorUser, kRequesterUser})
    if (const auto account = sys::account_of(std::string(user));
        account && !scene.user_mode && account->home.size() > 1)
      folders.push_back(account->home);
  std::size_t count = 0;
  bool whole = true;
  for (const std::string& folder : folders)
    if (const std::string found = find_key(folder, count, whole); !found.empty())
      return line(Status::kFail, base::escape(found) + ": holds a private key");
  const std::string what = fmt::format(
      "the programs import no signing function; {} of settings and service users' homes "
      "searched for private keys, none found",
      count == 1 ? "1 file" : fmt::format("{} files", count));
  return whole ? line(Status::kPass, what) : line(Status::kSkipped, what + ", and some could not be read");
}

Line no_shell(const Scene& scene, const std::vector<CellRow>&) {
  std::string names;
  for (const std::string& path : {scene.save_program, scene.connector_program}) {
    const auto program = load(path);
    if (!program) return line(Status::kSkipped, program.error().what);
    const std::string name = base::escape(path);
    if (const std::string function = first_import(*program, kShellFunctions); !function.empty())
      return line(Status::kFail, fmt::format("{}: imports {}", name, function));
    for (const std::string_view shell : {"/bin/sh", "/bin/bash"})
      if (program->bytes.contains(shell)) return line(Status::kFail, fmt::format("{}: names {}", name, shell));
    names += (names.empty() ? "" : ", ") + name;
  }
  return line(Status::kPass, names + " import none of system, popen, exec by name, wordexp, and name no shell");
}

Line atomic_claim(const Scene& scene, const std::vector<CellRow>&) {
  auto scratch = Scratch::make(scene.site.root + "/save");
  if (!scratch) return line(Status::kSkipped, base::escape(scratch.error().what));
  const auto race = sys::race_renames(scratch->path(), limits::kRaceFiles, limits::kRaceProcesses);
  if (!race) return line(Status::kSkipped, base::escape(race.error().what));
  const std::string what = fmt::format("{} processes raced for {} renames here: {} winners, {} files arrived",
                                       limits::kRaceProcesses, race->files, race->won, race->arrived);
  return line(race->won == race->files && race->arrived == race->files ? Status::kPass : Status::kFail, what);
}

Line unknown_fails_closed(const Scene&, const std::vector<CellRow>&) {
  using model::JobKind;
  using model::State;
  for (const model::Edge& edge : model::kEdges)
    if (edge.from == State::kUnknown && edge.event != model::Event::kResolve && edge.event != model::Event::kRerun)
      return line(Status::kFail, fmt::format("{} leaves OUTCOME_UNKNOWN without a person", edge.row));
  const model::OutcomeRow& lost = model::classify({.transport = model::Transport::kLost});
  const model::Settled save = model::settle(JobKind::kSave, lost, model::ReadBack::kUnavailable);
  const model::Settled del = model::settle(JobKind::kDelete, lost, model::ReadBack::kUnavailable);
  const bool save_waits = (save.to == State::kRetryable || save.to == State::kUnknown) && save.may_have_effect;
  if (!save_waits || del.to != State::kUnknown)
    return line(Status::kFail, fmt::format("{}: a lost answer ends as {} and {}", lost.name, model::to_word(save.to),
                                           model::to_word(del.to)));
  return line(Status::kPass,
              fmt::format("no row of the state table leaves OUTCOME_UNKNOWN but a person's (J18, J19); a lost "
                          "answer that can't be read back is {} for a save, {} for a delete (row {})",
                          model::to_word(save.to), model::to_word(del.to), lost.name));
}

}  // namespace intray::cli::doctor
