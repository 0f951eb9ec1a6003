#include "model/effect.h"

#include <fmt/format.h>

#include "model/canonical_writer.h"

namespace intray::model {
namespace {

constexpr std::size_t kBytesExpected = 1536;  // a path of up to 1024 bytes and a few short members

}  // namespace

base::Sha256 provenance_hash(std::string_view commit, const base::Sha256& content, std::string_view object_id,
                             std::string_view repository_path, std::string_view state) {
  return base::sha256(CanonicalWriter(kBytesExpected)
                          .text("commit", commit)
                          .hash("content_sha256", content)
                          .text("object_id", object_id)
                          .text("path", repository_path)
                          .text("state", state)
                          .raw("version", "1")
                          .finish());
}

base::Sha256 save_effect_key(const base::Sha256& content, std::string_view site_namespace, std::string_view object_id,
                             std::string_view vault_path, std::string_view source_commit) {
  return base::sha256(CanonicalWriter(kBytesExpected)
                          .hash("content_sha256", content)
                          .text("kind", "SAVE")
                          .text("namespace", site_namespace)
                          .text("object_id", object_id)
                          .text("path", vault_path)
                          .text("source_commit", source_commit)
                          .finish());
}

base::Sha256 delete_effect_key(std::string_view expected_commit, const base::Sha256& expected_provenance,
                               std::string_view site_namespace, std::string_view object_id,
                               std::string_view vault_path) {
  return base::sha256(CanonicalWriter(kBytesExpected)
                          .text("expected_commit", expected_commit)
                          .hash("expected_provenance_hash", expected_provenance)
                          .text("kind", "DELETE")
                          .text("namespace", site_namespace)
                          .text("object_id", object_id)
                          .text("path", vault_path)
                          .finish());
}

std::string object_id_from_path(std::string_view repository_path) {
  return fmt::format("p-{:.32}", base::sha256(repository_path).hex());
}

std::string idempotency_header(const base::Sha256& effect_key, int repetition) {
  return fmt::format("{}-{}", effect_key.hex(), repetition);
}

}  // namespace intray::model
