// Purpose:    the hashes that name an effect and its provenance, and the object id of a vault without ids.
// Thread use: pure.
#pragma once

#include <string>
#include <string_view>

#include "base/hash.h"

namespace intray::model {

// SHA-256 over the JCS bytes of {"commit","content_sha256","object_id","path","state","version":1}; path is the
// repository path.
base::Sha256 provenance_hash(std::string_view commit, const base::Sha256& content, std::string_view object_id,
                             std::string_view repository_path, std::string_view state);

// SHA-256 over the JCS bytes of {"content_sha256","kind":"SAVE","namespace","object_id","path","source_commit"}; path
// is the vault path.
base::Sha256 save_effect_key(const base::Sha256& content, std::string_view site_namespace, std::string_view object_id,
                             std::string_view vault_path, std::string_view source_commit);

// SHA-256 over the JCS bytes of
// {"expected_commit","expected_provenance_hash","kind":"DELETE","namespace","object_id","path"}.
base::Sha256 delete_effect_key(std::string_view expected_commit, const base::Sha256& expected_provenance,
                               std::string_view site_namespace, std::string_view object_id,
                               std::string_view vault_path);

// "p-" and the first 32 hex digits of SHA-256 over the repository path's bytes.
std::string object_id_from_path(std::string_view repository_path);

// "<effect key>-<n>": the receiver's Idempotency-Key; n counts the deliberate repetitions of the effect, from 0.
std::string idempotency_header(const base::Sha256& effect_key, int repetition);

}  // namespace intray::model
