#include "source/git_handle.h"

#include <cstdlib>

#include "base/escape.h"
#include "limits.h"
#include "model/job.h"

namespace intray::source {
namespace {

bool start() {
  if (git_libgit2_init() < 0) return false;
  for (const git_config_level_t level :
       {GIT_CONFIG_LEVEL_PROGRAMDATA, GIT_CONFIG_LEVEL_SYSTEM, GIT_CONFIG_LEVEL_XDG, GIT_CONFIG_LEVEL_GLOBAL})
    if (git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, level, "") < 0) return false;
  return git_libgit2_opts(GIT_OPT_SET_CACHE_MAX_SIZE, static_cast<ssize_t>(limits::kGitCacheBytesMax)) == 0;
}

}  // namespace

void start_git() {
  static const bool started = start();
  if (!started) std::abort();  // it can fail for want of memory only
}

std::string to_hex(const git_oid& id) {
  std::string out(GIT_OID_HEXSZ, '\0');
  git_oid_fmt(out.data(), &id);
  return out;
}

bool parse_id(const std::string& hex, git_oid& id) {
  return model::is_commit_id(hex, model::ObjectFormat::kSha1) && git_oid_fromstr(&id, hex.c_str()) == 0;
}

std::string git_says() {
  const git_error* last = git_error_last();
  return last != nullptr && last->message != nullptr ? base::escape(last->message) : "no reason given";
}

std::unexpected<Refusal> refuse(model::Reason reason, std::string detail) {
  return std::unexpected<Refusal>(Refusal{reason, std::move(detail)});
}

std::unexpected<Refusal> unavailable(const std::string& what) {
  return refuse(model::Reason::kSourceUnavailable, what + ": " + git_says());
}

}  // namespace intray::source
