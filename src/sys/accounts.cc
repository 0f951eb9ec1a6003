#include <grp.h>
#include <pwd.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "sys/identity.h"

namespace intray::sys {
namespace {

constexpr std::size_t kAccountBufferBytes = 64 * 1024;  // of one entry; groups list all their members in it
constexpr int kGroupsMax = 65'536;                      // the kernel's own bound of supplementary groups

Account from_entry(const passwd& entry) {
  return {.name = entry.pw_name, .uid = entry.pw_uid, .gid = entry.pw_gid, .home = entry.pw_dir};
}

}  // namespace

std::optional<Account> account_of(const std::string& name) {
  std::string buffer(kAccountBufferBytes, '\0');
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr)
    return std::nullopt;
  return from_entry(entry);
}

std::optional<Account> account_of(std::uint32_t uid) {
  std::string buffer(kAccountBufferBytes, '\0');
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr) return std::nullopt;
  return from_entry(entry);
}

std::vector<Account> all_accounts(std::size_t max) {
  std::vector<Account> out;
  // NOLINTBEGIN(concurrency-mt-unsafe): one thread
  ::setpwent();
  while (out.size() < max) {
    const passwd* const entry = ::getpwent();
    if (entry == nullptr) break;
    out.push_back(from_entry(*entry));
  }
  ::endpwent();
  // NOLINTEND(concurrency-mt-unsafe)
  return out;
}

std::vector<std::uint32_t> groups_of(const Account& account) {
  std::vector<gid_t> groups(64);
  int count = static_cast<int>(groups.size());
  while (::getgrouplist(account.name.c_str(), account.gid, groups.data(), &count) < 0) {
    if (count <= static_cast<int>(groups.size()) || count > kGroupsMax) return {account.gid};
    groups.resize(static_cast<std::size_t>(count));
  }
  groups.resize(static_cast<std::size_t>(count));
  return {groups.begin(), groups.end()};
}

std::vector<Account> members_of(const std::string& group_name, std::size_t max) {
  std::vector<Account> out;
  std::string buffer(kAccountBufferBytes, '\0');
  group entry{};
  group* found = nullptr;
  int error = 0;
  while ((error = ::getgrnam_r(group_name.c_str(), &entry, buffer.data(), buffer.size(), &found)) == ERANGE)
    buffer.resize(buffer.size() * 2);
  if (error != 0 || found == nullptr) return out;
  const auto add = [&](Account account) {
    const bool known = std::ranges::any_of(out, [&](const Account& a) { return a.name == account.name; });
    if (!known && out.size() < max) out.push_back(std::move(account));
  };
  for (char** member = entry.gr_mem; *member != nullptr; ++member)
    if (auto account = account_of(std::string(*member))) add(std::move(*account));
  for (const Account& account : all_accounts(static_cast<std::size_t>(kGroupsMax)))
    if (account.gid == entry.gr_gid) add(account);
  return out;
}

std::optional<std::string> group_name(std::uint32_t gid) {
  std::string buffer(kAccountBufferBytes, '\0');
  group entry{};
  group* found = nullptr;
  if (::getgrgid_r(gid, &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr) return std::nullopt;
  return std::string(entry.gr_name);
}

}  // namespace intray::sys
