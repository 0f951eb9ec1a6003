// A note's front matter, and what the note says about itself.
#include <string>

#include "base/utf8.h"
#include "model/job.h"
#include "source/source.h"
#include "target.h"

using namespace intray;

namespace {

bool same(const source::FrontMatter& a, const source::FrontMatter& b) {
  return a.present == b.present && a.readable == b.readable && a.id == b.id && a.state == b.state;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view note = fuzz::text_of(data, size);
  const source::FrontMatter front = source::read_front_matter(note, "id", "status");
  CHECK(front.present || !front.readable);
  if (!front.readable) CHECK(!front.id && !front.state);
  for (const auto& value : {front.id, front.state})
    if (value) CHECK(base::is_utf8(*value));
  if (!front.present) CHECK(!note.starts_with("---\n"));
  // Keys are told apart by name alone, and the body counts for nothing.
  const source::FrontMatter swapped = source::read_front_matter(note, "status", "id");
  CHECK(swapped.readable == front.readable && swapped.id == front.state && swapped.state == front.id);
  if (front.readable)
    CHECK(same(front, source::read_front_matter(std::string(note) + "\n---\nid: other\n---\n", "id", "status")));

  source::NoteRules rules;
  rules.id_from_front_matter = true;
  const source::NoteFacts facts = source::describe_note(note, "a/b.md", rules);
  CHECK(facts.object_id.empty() || (front.id == facts.object_id && model::is_object_id(facts.object_id)));
  CHECK(model::is_state_word(facts.state));
  if (facts.state != "UNSET" && facts.state != "OTHER") CHECK(front.state == facts.state);
  if (front.present && !front.readable) CHECK(facts.state == "OTHER" && facts.object_id.empty());
  rules.id_from_front_matter = false;
  CHECK(model::is_object_id(source::describe_note(note, "a/b.md", rules).object_id));
  return 0;
}
