#include "cli/doctor/scene.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "base/escape.h"
#include "cli/doctor/targets.h"
#include "cli/roles.h"
#include "limits.h"
#include "sys/dir.h"
#include "sys/machine.h"
#include "sys/process.h"
#include "sys/resolve.h"

namespace intray::cli::doctor {
namespace {

using base::ErrorCode;
using model::JobKind;

constexpr std::uint32_t kNobody = 65534;
constexpr std::uint32_t kUnusedFirst = 64'999;  // above what systems give to users and services

std::uint32_t unused_uid() {
  for (std::uint32_t uid = kUnusedFirst;; --uid)
    if (!sys::account_of(uid) && !sys::group_name(uid)) return uid;
}

sys::Identity identity_of(const sys::Account& account) {
  return {.uid = account.uid, .gid = account.gid, .groups = sys::groups_of(account)};
}

SubjectSet by_name(const char* name) {
  const auto account = sys::account_of(std::string(name));
  if (!account) return {.people = {}, .missing = Missing{Status::kSkipped, fmt::format("there is no user {}", name)}};
  return {.people = {{account->name, identity_of(*account)}}, .missing = std::nullopt};
}

SubjectSet requesters(const std::optional<config::Settings>& save) {
  SubjectSet out = by_name(kRequesterUser);
  if (!save) return out;
  for (const std::uint32_t uid : save->requester_uids) {
    const bool known = std::ranges::any_of(out.people, [&](const Person& p) { return p.identity.uid == uid; });
    if (known || uid == 0 || out.people.size() >= limits::kProbePeopleMax) continue;
    if (const auto account = sys::account_of(uid))
      out.people.push_back({account->name, identity_of(*account)});
    else
      out.people.push_back({std::to_string(uid), {.uid = uid, .gid = kNobody, .groups = {}}});
    out.missing.reset();
  }
  return out;
}

// Members of the admins' group; where it has none, somebody who has nothing but that group and the requesters'.
SubjectSet admins() {
  SubjectSet out;
  const auto admin_gid = sys::group_id(kAdminGroup);
  if (!admin_gid) {
    out.missing = Missing{Status::kSkipped, fmt::format("there is no group {}", kAdminGroup)};
    return out;
  }
  for (const sys::Account& account : sys::members_of(kAdminGroup, limits::kProbePeopleMax))
    if (account.uid != 0) out.people.push_back({account.name, identity_of(account)});
  if (!out.people.empty()) return out;
  sys::Identity made_up{.uid = unused_uid(), .gid = *admin_gid, .groups = {*admin_gid}};
  if (const auto requester_gid = sys::group_id(kRequesterGroup)) made_up.groups.push_back(*requester_gid);
  out.people.push_back({"nobody's", made_up});
  return out;
}

std::optional<std::uint16_t> port_of(const std::string& url) {
  const std::size_t scheme = url.find("://");
  if (scheme == std::string::npos) return std::nullopt;
  const std::string_view rest = std::string_view(url).substr(scheme + 3);
  const std::size_t colon = rest.rfind(':');
  if (colon == std::string_view::npos || rest.find(']', colon) != std::string_view::npos)
    return url.starts_with("https") ? 443 : 80;
  std::uint16_t port = 0;
  const std::string_view digits = rest.substr(colon + 1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  return error == std::errc{} && end == digits.data() + digits.size() ? std::optional(port) : std::nullopt;
}

SubjectSet receiver(const std::optional<config::Settings>& save) {
  const auto none = [](std::string why) {
    return SubjectSet{.people = {}, .missing = Missing{Status::kSkipped, std::move(why)}};
  };
  if (!save) return none("its address is not known: the settings can't be read");
  const std::string& url = save->receiver.url;
  const std::size_t host = url.find("://");
  const bool local = std::ranges::any_of(std::to_array<std::string_view>({"127.", "localhost", "[::1]"}),
                                         [&](std::string_view h) { return url.compare(host + 3, h.size(), h) == 0; });
  if (host == std::string::npos || !local) return none("it runs on another machine");
  const auto port = port_of(url);
  const auto uid = port ? sys::listener_uid(*port) : std::nullopt;
  if (!uid) return none("nothing listens at " + base::escape(url) + " now");
  if (*uid == 0) return none("it runs as root, which nothing here keeps from anything");
  if (const auto account = sys::account_of(*uid))
    return {.people = {{account->name, identity_of(*account)}}, .missing = std::nullopt};
  return {.people = {{std::to_string(*uid), {.uid = *uid, .gid = kNobody, .groups = {}}}}, .missing = std::nullopt};
}

// The user that agents run as which have nothing to do with this: nobody, unless a site of one user is nobody's own.
SubjectSet stranger(const Scene& scene) {
  const auto nobody = sys::account_of(std::string("nobody"));
  const bool taken = scene.owners && scene.owners->executor_uid == (nobody ? nobody->uid : kNobody);
  if (nobody && !taken) return {.people = {{"nobody", {nobody->uid, nobody->gid, {}}}}, .missing = std::nullopt};
  const std::uint32_t uid = unused_uid();
  return {.people = {{"nobody's", {uid, uid, {}}}}, .missing = std::nullopt};
}

void set_subjects(Scene& scene) {
  const auto set = [&](Subject s, SubjectSet people) {
    scene.subjects[static_cast<std::size_t>(s)] = std::move(people);
  };
  const SubjectSet not_installed{.people = {},
                                 .missing = Missing{Status::kNotYet, "the delete executor is not installed here"}};
  if (scene.user_mode) {
    const SubjectSet same{.people = {}, .missing = Missing{Status::kNotSeparated, "not separated: user mode"}};
    for (const SubjectText& text : kSubjectTexts) set(text.subject, same);
    set(Subject::kDeleteExecutor, not_installed);
    set(Subject::kDeleteConnector, not_installed);
  } else {
    set(Subject::kRequester, requesters(scene.save));
    set(Subject::kSaveExecutor, by_name(kSaveUser));
    set(Subject::kSaveConnector, by_name(kSaveConnectorUser));
    set(Subject::kDeleteExecutor, scene.delete_installed ? by_name(kDeleteUser) : not_installed);
    set(Subject::kDeleteConnector, scene.delete_installed ? by_name(kDeleteConnectorUser) : not_installed);
    set(Subject::kMirror, by_name(kMirrorUser));
    set(Subject::kAdmin, admins());
    set(Subject::kReceiver, receiver(scene.save));
  }
  set(Subject::kStranger, stranger(scene));
  for (SubjectSet& subject : scene.subjects) {
    const auto able = [](const Person& p) { return p.identity.uid != 0 && sys::can_become(p.identity); };
    if (subject.people.empty() || std::ranges::all_of(subject.people, able)) continue;
    const bool is_root = std::ranges::any_of(subject.people, [](const Person& p) { return p.identity.uid == 0; });
    subject.missing = Missing{Status::kSkipped, is_root ? "its user is root, which nothing here keeps from anything"
                                                        : "only root can try as another user"};
  }
}

// Beside us once installed; in a folder of its own where it was built.
std::string find_program(const std::string& name) {
  const std::string here = sys::own_program_dir();
  for (const std::string& path : {fmt::format("{}/{}", here, name), fmt::format("{}/../{}/{}", here, name, name)}) {
    std::error_code error;
    const auto whole = std::filesystem::canonical(path, error);
    if (!error && std::filesystem::is_regular_file(whole, error)) return whole.string();
  }
  return {};
}

}  // namespace

base::Result<Scene> look(const std::string& root_option) {
  Scene scene;
  scene.site = INTRAY_TRY(find_site(root_option));
  scene.root = sys::effective_uid() == 0;
  static_cast<void>(INTRAY_TRY(kinds_of(scene.site, JobKind::kSave)));
  scene.delete_installed = kinds_of(scene.site, JobKind::kDelete).has_value();
  auto settings = settings_of(scene.site, JobKind::kSave);
  if (settings)
    scene.save = std::move(*settings);
  else if (settings.error().code == ErrorCode::kNotFound)
    return std::unexpected(std::move(settings).error());
  else
    scene.settings_error = settings.error().what;
  scene.user_mode = scene.save ? scene.save->user_mode : scene.site.config_dir == scene.site.root + "/etc";
  if (scene.user_mode) {
    const sys::Dir top = INTRAY_TRY(sys::Dir::open(scene.site.root));
    const sys::FileInfo info = INTRAY_TRY(top.stat_self());
    scene.owners = inbox::Owners{info.uid, info.gid, info.gid, info.uid, info.gid, true};
  } else if (auto owners = site_owners(false)) {
    scene.owners = *owners;
  }
  scene.connector_program =
      scene.save && !scene.save->connector.empty() ? scene.save->connector : find_program("intray-connector");
  scene.save_program = find_program("intray-save");
  set_subjects(scene);
  set_targets(scene);
  return scene;
}

std::vector<SubjectNote> notes_of(const Scene& scene) {
  std::vector<SubjectNote> out;
  for (const SubjectText& text : kSubjectTexts) {
    const SubjectSet& set = scene.of(text.subject);
    if (set.missing) {
      out.push_back({text.subject, fmt::format("{}: {}", to_word(set.missing->status), set.missing->why)});
      continue;
    }
    std::string all;
    for (const Person& person : set.people) {
      std::vector<std::string> groups;
      groups.reserve(person.identity.groups.size());
      for (const std::uint32_t gid : person.identity.groups)
        groups.push_back(sys::group_name(gid).value_or(std::to_string(gid)));
      all += fmt::format("{}{} (uid {}, groups {})", all.empty() ? "" : "; ", base::escape(person.name),
                         person.identity.uid, groups.empty() ? "none" : fmt::format("{}", fmt::join(groups, " ")));
    }
    out.push_back({text.subject, all});
  }
  return out;
}

}  // namespace intray::cli::doctor
