// Purpose:    the subjects and targets of the matrix on the machine at hand: which user is the requester, where the
//             credential lies, and what is not there.
// Trust:      settings and accounts are root's.
// Thread use: one thread.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/doctor/report.h"
#include "cli/site.h"
#include "config/settings.h"
#include "inbox/layout.h"
#include "sys/identity.h"

namespace intray::cli::doctor {

// Why there is nothing to try.
struct Missing {
  Status status = Status::kSkipped;
  std::string why;
};

struct Person {
  std::string name;
  sys::Identity identity;
};

struct SubjectSet {
  std::vector<Person> people;      // every one of them is tried; one hole is a hole
  std::optional<Missing> missing;  // set where there is nobody
};

struct TargetSet {
  std::vector<std::string> paths;
  std::vector<std::string> write_paths;  // further ones for a try to write: the folder that a file could be swapped in
  std::optional<Missing> missing;
  std::string none;  // what to say where there is no path, and that is good
};

struct Scene {
  Site site;
  bool user_mode = false;
  bool root = false;  // this process may become anybody
  std::optional<inbox::Owners> owners;
  std::optional<config::Settings> save;
  std::string settings_error;  // of save.toml
  bool delete_installed = false;
  std::string save_program;       // "": not found
  std::string connector_program;  // "": not found
  std::array<SubjectSet, kSubjects> subjects;
  std::array<TargetSet, kTargets> targets;

  const SubjectSet& of(Subject s) const { return subjects[static_cast<std::size_t>(s)]; }
  const TargetSet& of(Target t) const { return targets[static_cast<std::size_t>(t)]; }
};

// kNotFound: there is no inbox. Other errors: the site's own files are wrong.
base::Result<Scene> look(const std::string& root_option);

// Who was tried, for the report.
std::vector<SubjectNote> notes_of(const Scene& scene);

}  // namespace intray::cli::doctor
