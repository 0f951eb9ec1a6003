#include "model/effect.h"
#include "model/job.h"
#include "source/source.h"

namespace intray::source {
namespace {

// UNSET where the note names no state; OTHER where it may name one that no job can.
std::string state_of(const FrontMatter& front) {
  if (!front.present) return "UNSET";
  if (!front.readable) return "OTHER";
  if (!front.state) return "UNSET";
  return model::is_state_word(*front.state) ? *front.state : "OTHER";
}

}  // namespace

NoteFacts describe_note(std::string_view content, std::string_view repository_path, const NoteRules& rules) {
  const FrontMatter front = read_front_matter(content, rules.id_key, rules.state_key);
  NoteFacts out{.object_id = {}, .state = state_of(front), .content_sha256 = base::sha256(content)};
  if (!rules.id_from_front_matter)
    out.object_id = model::object_id_from_path(repository_path);
  else if (front.id && model::is_object_id(*front.id))
    out.object_id = *front.id;
  return out;
}

}  // namespace intray::source
