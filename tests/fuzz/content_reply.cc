// The body of an answer to a read, held against the general JSON library.
#include <nlohmann/json.hpp>
#include <string>

#include "base/utf8.h"
#include "receiver/client.h"
#include "receiver/content_reply.h"
#include "receiver/request.h"
#include "target.h"

using namespace intray;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes = fuzz::text_of(data, size);
  for (const char* name : {"content", "error"}) {
    const auto value = receiver::only_string_member(bytes, name);
    // That library skips a mark in front and reads on after a NUL.
    const bool comparable = !bytes.starts_with("\xEF\xBB\xBF") && bytes.find('\0') == std::string_view::npos;
    const auto json = nlohmann::json::parse(bytes, nullptr, false);
    const bool same_shape = json.is_object() && json.size() == 1 && json.contains(name) && json[name].is_string();
    if (value) {
      CHECK(base::is_utf8(*value) && value->size() <= bytes.size());
      CHECK(same_shape && json[name].get_ref<const std::string&>() == *value);
    } else if (comparable && same_shape) {
      // It accepts more in two ways only: a member given twice, and a name with escapes.
      const std::string spelled = '"' + std::string(name) + '"';
      std::size_t times = 0;
      for (std::size_t at = bytes.find(spelled); at != std::string_view::npos; at = bytes.find(spelled, at + 1))
        ++times;
      CHECK(times != 1 || bytes.find('\\') < bytes.find(spelled));
    }
  }
  // What we would send reads back as it was.
  if (base::is_utf8(bytes)) {
    const std::string sent = receiver::render_save_body("/v/" + std::string(bytes), bytes);
    CHECK(sent.size() == receiver::save_body_bytes("/v/" + std::string(bytes), bytes));
    const auto read = nlohmann::json::parse(sent, nullptr, false);
    CHECK(read.is_object() && read["content"] == std::string(bytes) && read["path"] == "/v/" + std::string(bytes));
    for (const char c : sent) CHECK(static_cast<unsigned char>(c) < 0x80);
    const std::string reply = "{\"content\":" + read["content"].dump() + "}";
    CHECK(receiver::only_string_member(reply, "content") == std::string(bytes));
  }
  return 0;
}
