#include <cstdlib>
#include <string>
#include <string_view>

#include "base/log.h"
#include "receiver/request.h"

// The public receiver decodes a body piece by piece and damages characters that lie across two pieces, so bodies are
// ASCII.
namespace intray::receiver {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";
constexpr std::string_view kBeforeContent = "{\"content\":\"";
constexpr std::string_view kBeforePath = "\",\"path\":\"";
constexpr std::string_view kEnd = "\"}";

[[noreturn]] void not_utf8() {
  base::log(base::LogLevel::kError, "save_body_not_utf8");
  std::abort();  // the caller checked it
}

bool is_plain(unsigned char c) { return c >= 0x20 && c < 0x80 && c != '"' && c != '\\'; }

// The code point at `at`, which is moved behind it. Every rule of RFC 3629 holds, so that what is sent decodes to what
// was checked.
char32_t decode(std::string_view text, std::size_t& at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  const std::size_t more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
  if (lead < 0xc2 || lead > 0xf4 || text.size() - at <= more) not_utf8();
  char32_t code_point = lead & (0x3fU >> more);
  for (std::size_t i = 1; i <= more; ++i) {
    const auto next = static_cast<unsigned char>(text[at + i]);
    if ((next & 0xc0U) != 0x80) not_utf8();
    code_point = (code_point << 6U) | (next & 0x3fU);
  }
  const bool overlong = (more == 2 && code_point < 0x800) || (more == 3 && code_point < 0x10000);
  const bool surrogate = code_point >= 0xd800 && code_point < 0xe000;
  if (overlong || surrogate || code_point > 0x10ffff) not_utf8();
  at += more + 1;
  return code_point;
}

char short_escape(unsigned char c) {
  switch (c) {
    case '"': return '"';
    case '\\': return '\\';
    case '\b': return 'b';
    case '\f': return 'f';
    case '\n': return 'n';
    case '\r': return 'r';
    case '\t': return 't';
    default: return '\0';
  }
}

void append_unit(std::string& out, char32_t unit) {
  out += "\\u";
  for (const unsigned shift : {12U, 8U, 4U, 0U}) out += kHexDigits[(unit >> shift) & 0xfU];
}

std::size_t plain_run(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && is_plain(static_cast<unsigned char>(text[end]))) ++end;
  return end - at;
}

void append_string(std::string& out, std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t run = plain_run(text, at);
    out.append(text, at, run);
    at += run;
    if (at == text.size()) return;
    const auto c = static_cast<unsigned char>(text[at]);
    if (c >= 0x80) {
      const char32_t code_point = decode(text, at);
      if (code_point >= 0x10000) append_unit(out, 0xd800 + ((code_point - 0x10000) >> 10U));
      append_unit(out, code_point < 0x10000 ? code_point : 0xdc00 + ((code_point - 0x10000) & 0x3ffU));
      continue;
    }
    if (const char escape = short_escape(c); escape != '\0') {
      out += '\\';
      out += escape;
    } else {
      append_unit(out, c);
    }
    ++at;
  }
}

std::size_t string_bytes(std::string_view text) {
  constexpr std::size_t kUnitBytes = 6;
  std::size_t bytes = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t run = plain_run(text, at);
    bytes += run;
    at += run;
    if (at == text.size()) break;
    const auto c = static_cast<unsigned char>(text[at]);
    if (c >= 0x80) {
      bytes += decode(text, at) >= 0x10000 ? 2 * kUnitBytes : kUnitBytes;
    } else {
      bytes += short_escape(c) != '\0' ? 2 : kUnitBytes;
      ++at;
    }
  }
  return bytes;
}

}  // namespace

std::string render_save_body(std::string_view vault_path, std::string_view content) {
  std::string out;
  out.reserve(save_body_bytes(vault_path, content));
  out.append(kBeforeContent);
  append_string(out, content);
  out.append(kBeforePath);
  append_string(out, vault_path);
  out.append(kEnd);
  return out;
}

std::size_t save_body_bytes(std::string_view vault_path, std::string_view content) {
  return kBeforeContent.size() + string_bytes(content) + kBeforePath.size() + string_bytes(vault_path) + kEnd.size();
}

}  // namespace intray::receiver
