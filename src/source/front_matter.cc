#include <libfyaml.h>

#include <memory>
#include <set>
#include <vector>

#include "base/utf8.h"
#include "limits.h"
#include "source/source.h"

namespace intray::source {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

struct ParserFreer {
  void operator()(fy_parser* p) const { fy_parser_destroy(p); }
};
using ParserHandle = std::unique_ptr<fy_parser, ParserFreer>;
struct DiagFreer {
  void operator()(fy_diag* p) const { fy_diag_destroy(p); }
};
using DiagHandle = std::unique_ptr<fy_diag, DiagFreer>;

// Left to itself, libfyaml prints what it refuses, quoting it, on stderr: the log. (Its default configuration is not
// the start: that asks whether stderr is a terminal, which a locked-down process may not.)
DiagHandle silent_diag() {
  fy_diag_cfg config{};
  config.output_fn = [](fy_diag*, void*, const char*, std::size_t) {};
  config.level = FYET_ERROR;
  return DiagHandle(fy_diag_create(&config));
}

// Takes the first line off, without its line end.
std::string_view take_line(std::string_view& rest) {
  const std::size_t end = rest.find('\n');
  std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

bool is_fence(std::string_view line) {
  if (!line.starts_with("---")) return false;
  return line.find_first_not_of(" \t", 3) == std::string_view::npos;
}

// What stands between the first line, already taken, and the next fence; nullopt where none follows within the bound.
std::optional<std::string_view> block_before_fence(std::string_view rest) {
  const std::string_view all = rest;
  while (!rest.empty()) {
    const auto length = static_cast<std::size_t>(rest.data() - all.data());
    if (length > limits::kFrontMatterBytesMax) return std::nullopt;
    if (is_fence(take_line(rest))) return all.substr(0, length);
  }
  return std::nullopt;
}

// Before the library sees it: text, no control characters but tab and line ends, and no directives, which it would take
// without the document mark that YAML demands after them. (No other line of YAML can begin with a percent sign.)
bool is_plain_text(std::string_view block) {
  // libfyaml 0.7.12 leaks memory over single-quoted text with two escaped quotes in a row: a vault of such notes would
  // make a process grow. They are as good as unheard of.
  if (block.contains("''''")) return false;
  for (const std::string_view start : {"\n%", "\r%"})
    if (block.starts_with('%') || block.contains(start)) return false;
  for (const char c : block) {
    const auto octet = static_cast<unsigned char>(c);
    if ((octet < 0x20 && c != '\t' && c != '\n' && c != '\r') || octet == 0x7F) return false;
  }
  return base::is_utf8(block);
}

// Reads YAML as a stream of events, so that nothing is expanded, resolved or built: an alias ends it before it means
// anything. Depth and number of nodes are bounded here; libfyaml's own recursion is bounded by the same depth.
class TopLevelScalars {
 public:
  TopLevelScalars(std::string_view id_key, std::string_view state_key, FrontMatter& out)
      : id_key_(id_key), state_key_(state_key), out_(out) {}

  bool read(const std::string& block) {
    const DiagHandle diag = silent_diag();
    if (!diag) return false;
    fy_parse_cfg config{};
    config.flags = static_cast<fy_parse_cfg_flags>(FYPCF_QUIET | FYPCF_DEFAULT_VERSION_1_2);
    config.diag = diag.get();
    const ParserHandle parser(fy_parser_create(&config));
    if (!parser || fy_parser_set_string(parser.get(), block.data(), block.size()) != 0) return false;
    while (fy_event* event = fy_parser_parse(parser.get())) {
      const bool ended = event->type == FYET_STREAM_END;
      const bool fine = take(*event);
      fy_parser_event_free(parser.get(), event);
      if (!fine) return false;
      if (ended) return true;
    }
    return false;  // a syntax error: the stream never ended
  }

 private:
  struct Level {
    bool mapping;
    bool at_key;
    std::set<std::string, std::less<>> keys;
  };

  bool take(const fy_event& event) {
    switch (event.type) {
      case FYET_STREAM_START:
      case FYET_STREAM_END: return true;
      case FYET_DOCUMENT_START: return event.document_start.implicit && documents_++ == 0;
      case FYET_DOCUMENT_END: return event.document_end.implicit;
      case FYET_MAPPING_START:
        return event.mapping_start.anchor == nullptr && event.mapping_start.tag == nullptr && open(true);
      case FYET_SEQUENCE_START:
        return event.sequence_start.anchor == nullptr && event.sequence_start.tag == nullptr && open(false);
      case FYET_MAPPING_END:
      case FYET_SEQUENCE_END: return close();
      case FYET_SCALAR:
        return event.scalar.anchor == nullptr && event.scalar.tag == nullptr && scalar(event.scalar.value);
      default: return false;  // aliases, and what a later version may add
    }
  }

  bool open(bool mapping) {
    if (++nodes_ > limits::kFrontMatterNodesMax || levels_.size() == limits::kFrontMatterDepthMax) return false;
    if (levels_.empty() && !mapping) return false;
    if (!levels_.empty() && levels_.back().mapping) {
      if (levels_.back().at_key) return false;  // a key that is no scalar
      value("");
    }
    levels_.push_back({mapping, mapping, {}});
    return true;
  }

  bool close() {
    if (levels_.empty()) return false;
    levels_.pop_back();
    if (!levels_.empty() && levels_.back().mapping) levels_.back().at_key = true;
    return true;
  }

  bool scalar(fy_token* token) {
    if (++nodes_ > limits::kFrontMatterNodesMax || levels_.empty()) return false;
    Level& level = levels_.back();
    if (!level.mapping) return true;
    std::size_t length = 0;
    const char* text = token != nullptr ? fy_token_get_text(token, &length) : "";
    if (text == nullptr) return false;
    std::string taken(text, length);
    if (level.at_key) {
      level.at_key = false;
      if (levels_.size() == 1) key_ = taken;
      return level.keys.insert(std::move(taken)).second;
    }
    const bool none = taken.empty() && (token == nullptr || fy_token_scalar_style(token) == FYSS_PLAIN);
    value(none ? std::nullopt : std::optional(taken));
    level.at_key = true;
    return true;
  }

  // The value of a key of the mapping on top; deeper ones don't count.
  void value(const std::optional<std::string>& text) {
    if (levels_.size() != 1) return;
    if (key_ == id_key_) out_.id = text;
    if (key_ == state_key_) out_.state = text;
  }

  std::string_view id_key_;
  std::string_view state_key_;
  FrontMatter& out_;
  std::vector<Level> levels_;
  std::string key_;
  std::size_t nodes_ = 0;
  int documents_ = 0;
};

}  // namespace

FrontMatter read_front_matter(std::string_view note, std::string_view id_key, std::string_view state_key) {
  FrontMatter out;
  // A mark before the fence hides the block from some readers and not from others: it is there, and not to be trusted.
  const bool marked = note.starts_with(kByteOrderMark);
  if (marked) note.remove_prefix(kByteOrderMark.size());
  out.present = is_fence(take_line(note));
  if (!out.present || marked) return out;
  const auto block = block_before_fence(note);
  if (!block || !is_plain_text(*block)) return out;
  FrontMatter read = out;
  read.readable = true;
  if (TopLevelScalars(id_key, state_key, read).read(std::string(*block))) out = std::move(read);
  return out;
}

}  // namespace intray::source
