#include "model/effect.h"

#include <catch2/catch.hpp>
#include <set>
#include <string>

namespace intray::model {
namespace {

const std::string kCommit = "abababababababababababababababababababab";
const std::string kDeleting = "cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd";
const std::string kContent = "# Grüße\n";

// Expected values come from Python: hashlib.sha256 over json.dumps(…, sort_keys=True, separators=(',', ':'),
// ensure_ascii=False).
TEST_CASE("effect: hashes are those of the documented canonical objects") {
  const base::Sha256 content = base::sha256(kContent);
  CHECK(content.hex() == "6fa3737ebbbe46b5bd4df7a995e3184303bdc661549c1ff966b6e1db6a5c6e88");
  CHECK(provenance_hash(kCommit, content, "n-1", "Übung/a \"b\".md", "UNSET").hex() ==
        "debcdc94986d2c29da43ab46a2a89baf0c392b761f2d5d0cfa92afec574e2733");
  CHECK(save_effect_key(content, "i/t/e/1", "n-1", "/app/vault/Übung/a.md", kCommit).hex() ==
        "1c832cda7c77085bef1c692b71e2b388bf3562e8784043e44b87955601c9a7a4");
  CHECK(delete_effect_key(kDeleting, content, "i/t/e/1", "n-1", "/app/vault/Übung/a.md").hex() ==
        "ca87334cc7703df6458ee859eb68cde775c33e4dff2399113c3c826fb8ad3559");
}

TEST_CASE("effect: every part of an effect counts") {
  const base::Sha256 c = base::sha256("c");
  const base::Sha256 d = base::sha256("d");
  const std::set<std::string> keys = {
      save_effect_key(c, "n", "o", "p", "s").hex(),   save_effect_key(d, "n", "o", "p", "s").hex(),
      save_effect_key(c, "x", "o", "p", "s").hex(),   save_effect_key(c, "n", "x", "p", "s").hex(),
      save_effect_key(c, "n", "o", "x", "s").hex(),   save_effect_key(c, "n", "o", "p", "x").hex(),
      delete_effect_key("s", c, "n", "o", "p").hex(), delete_effect_key("x", c, "n", "o", "p").hex(),
      delete_effect_key("s", d, "n", "o", "p").hex(), delete_effect_key("s", c, "x", "o", "p").hex(),
      delete_effect_key("s", c, "n", "x", "p").hex(), delete_effect_key("s", c, "n", "o", "x").hex(),
      provenance_hash("s", c, "o", "p", "t").hex(),   provenance_hash("x", c, "o", "p", "t").hex(),
      provenance_hash("s", d, "o", "p", "t").hex(),   provenance_hash("s", c, "x", "p", "t").hex(),
      provenance_hash("s", c, "o", "x", "t").hex(),   provenance_hash("s", c, "o", "p", "x").hex()};
  CHECK(keys.size() == 18);
  // Text can't move from one member to its neighbour.
  CHECK(save_effect_key(c, "n", "o\",\"path\":\"q", "p", "s") != save_effect_key(c, "n", "o", "q\",\"path\":\"p", "s"));
}

TEST_CASE("effect: the object id of a vault without ids, and the receiver's key") {
  CHECK(object_id_from_path("Übung/a.md") == "p-d1d87c35323af56e90c97d4675524390");
  CHECK(object_id_from_path("") == "p-e3b0c44298fc1c149afbf4c8996fb924");
  CHECK(idempotency_header(base::sha256(""), 0) ==
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855-0");
  CHECK(idempotency_header(base::sha256(""), 12).ends_with("b855-12"));
}

}  // namespace
}  // namespace intray::model
