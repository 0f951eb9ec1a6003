// Purpose:    libgit2's objects as values that free themselves, its ids as keys, its last error as one line.
// Thread use: one thread.
#pragma once

#include <git2.h>

#include <cstring>
#include <memory>
#include <string>

#include "source/source.h"

namespace intray::source {

template <class T, void (*Free)(T*)>
struct Freer {
  void operator()(T* p) const { Free(p); }
};
template <class T, void (*Free)(T*)>
using Handle = std::unique_ptr<T, Freer<T, Free>>;

using RepositoryHandle = Handle<git_repository, git_repository_free>;
using OdbHandle = Handle<git_odb, git_odb_free>;
using ObjectHandle = Handle<git_object, git_object_free>;
using CommitHandle = Handle<git_commit, git_commit_free>;
using TreeHandle = Handle<git_tree, git_tree_free>;
using BlobHandle = Handle<git_blob, git_blob_free>;
using RevwalkHandle = Handle<git_revwalk, git_revwalk_free>;
using ConfigHandle = Handle<git_config, git_config_free>;

// Calls a libgit2 function whose first parameter is where the new object goes.
template <class H, class F, class... A>
int make(H& handle, F function, A... arguments) {
  typename H::pointer raw = nullptr;
  const int error = function(&raw, arguments...);
  handle.reset(raw);
  return error;
}

struct OidHash {
  std::size_t operator()(const git_oid& id) const noexcept {
    std::size_t out = 0;
    std::memcpy(&out, static_cast<const unsigned char*>(id.id), sizeof out);  // SHA-1: any part is a hash
    return out;
  }
};
struct OidEqual {
  bool operator()(const git_oid& a, const git_oid& b) const noexcept { return git_oid_equal(&a, &b) != 0; }
};
struct OidLess {
  bool operator()(const git_oid& a, const git_oid& b) const noexcept { return git_oid_cmp(&a, &b) < 0; }
};

std::string to_hex(const git_oid& id);
// Full length, lower-case, not all zero; false otherwise.
bool parse_id(const std::string& hex, git_oid& id);

// Starts libgit2, once per process, without any configuration of the machine or the user: what is in somebody's
// ~/.gitconfig must not change what an executor reads. Never shut down: a locked-down process ends with _exit.
void start_git();

// What libgit2 said last, escaped: "object not found - no match for id (…)".
std::string git_says();

std::unexpected<Refusal> refuse(model::Reason reason, std::string detail);
// SOURCE_UNAVAILABLE: "<what>: <what libgit2 said>".
std::unexpected<Refusal> unavailable(const std::string& what);

}  // namespace intray::source
