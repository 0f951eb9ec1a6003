// Purpose:    the vault's API: which requests are understood, and what each does to the store and answers.
// Trust:      requests are hostile; every check of theirs is here (credential, route, fence, members, path).
// Thread use: one thread.
//
//   POST /api/vault/save     {"content":…,"path":…}   200 null
//   POST /api/vault/delete   {"path":…}               200 the path, as a JSON string; 500 if it is not there
//   GET  /api/vault/content  ?path=…                  200 {"content":…}; 400 if it is not there
//   GET  /api/vault/search   ?query=…                 200 [{"path":…,"title":…},…]
#pragma once

#include <optional>
#include <string>

#include "vault-receiver/credential.h"
#include "vault-receiver/fence.h"
#include "vault-receiver/http_reply.h"
#include "vault-receiver/http_request.h"
#include "vault-receiver/kind.h"
#include "vault-receiver/vault_path.h"
#include "vault-receiver/vault_store.h"

namespace intray::vault_receiver {

struct Call {
  Kind kind = Kind::kSave;
  std::string path;      // as the request has it
  std::string relative;  // the same, inside the vault
  std::string content;
  std::string query;
  std::optional<Fence> fence;
};

struct Outcome {
  Reply reply;
  bool applied = false;         // the vault was changed
  std::string stored_sha256{};  // of a save that was applied
};

class VaultApi {
 public:
  VaultApi(VaultStore store, VaultRoot root, std::optional<BearerCheck> bearer)
      : store_(std::move(store)), root_(std::move(root)), bearer_(bearer) {}

  // Fills `call` as far as the request is understood (the log wants the path of a refused one too) and takes the
  // request's body. A value is the answer to a request that is refused; nothing was changed.
  std::optional<Reply> understand(Request& request, Call& call) const;

  // Does it. The fence is compared here and not on arrival, so that a request that was delayed meanwhile is judged
  // when it would act. `mangle`: stores other bytes than those sent.
  Outcome apply(const Call& call, bool mangle);

  // What apply() answers when all goes well, without doing anything.
  static Reply success_reply(const Call& call);

 private:
  Outcome save(const Call& call, bool mangle);
  Outcome remove(const Call& call);
  Reply content(const Call& call) const;
  Reply search(const Call& call) const;

  VaultStore store_;
  VaultRoot root_;
  std::optional<BearerCheck> bearer_;
  FenceTable fences_;
};

}  // namespace intray::vault_receiver
