#include <catch2/catch.hpp>

#include "model/effect.h"
#include "source/source.h"

using namespace intray;
using intray::source::describe_note;
using intray::source::NoteRules;

namespace {

TEST_CASE("note: its state is the word, UNSET without one, OTHER for what no job can name") {
  const auto state = [](const std::string& note) { return describe_note(note, "a.md", {}).state; };
  CHECK(state("---\nstatus: in review\n---\n") == "in review");
  CHECK(state("---\nstatus: 2026-1\n---\n") == "2026-1");
  CHECK(state("no front matter") == "UNSET");
  CHECK(state("---\ntitle: x\n---\n") == "UNSET");
  CHECK(state("---\nstatus:\n---\n") == "UNSET");
  CHECK(state("---\nstatus: ''\n---\n") == "OTHER");
  CHECK(state("---\nstatus: ~\n---\n") == "OTHER");
  CHECK(state("---\nstatus: [a]\n---\n") == "OTHER");
  CHECK(state("---\nstatus: geprüft\n---\n") == "OTHER");
  CHECK(state("---\nstatus: " + std::string(64, 'a') + "\n---\n") == std::string(64, 'a'));
  CHECK(state("---\nstatus: " + std::string(65, 'a') + "\n---\n") == "OTHER");
  CHECK(state("---\nstatus: a\n") == "OTHER");
  CHECK(state("---\nstatus: *x\n---\n") == "OTHER");
  CHECK(state("---\nstage: done\n---\n") == "UNSET");
  CHECK(describe_note("---\nstage: done\n---\n", "a.md", NoteRules{false, "id", "stage"}).state == "done");
}

TEST_CASE("note: its object id comes from the path or from front matter") {
  const NoteRules front{.id_from_front_matter = true, .id_key = "uid", .state_key = "status"};
  const auto id = [&](const std::string& line) {
    return describe_note("---\n" + line + "\n---\n", "a.md", front).object_id;
  };
  CHECK(id("uid: n-1.2:3_x") == "n-1.2:3_x");
  CHECK(id("uid: 'quoted'") == "quoted");
  CHECK(id("id: n-1") == "");
  CHECK(id("uid: has blank") == "");
  CHECK(id("uid: [n-1]") == "");
  CHECK(id("uid:") == "");
  CHECK(id("uid: n-1\nuid: n-1") == "");
  CHECK(describe_note("no front matter", "a.md", front).object_id == "");
  CHECK(describe_note("---\nid: n-1\n---\n", "Ordner/ä.md", {}).object_id == model::object_id_from_path("Ordner/ä.md"));
}

TEST_CASE("note: its content hash is over the very bytes") {
  CHECK(describe_note("abc", "a.md", {}).content_sha256.hex() ==
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(describe_note("abc\r\n", "a.md", {}).content_sha256 != describe_note("abc\n", "a.md", {}).content_sha256);
}

}  // namespace
