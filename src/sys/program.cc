#include "sys/program.h"

#include <elf.h>

#include <cstring>
#include <optional>

namespace intray::sys {
namespace {

// A plain struct at an offset of the file, where it lies within it whole.
template <class T>
std::optional<T> at(std::string_view bytes, std::uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  T out;
  std::memcpy(&out, bytes.data() + offset, sizeof out);
  return out;
}

std::string text_at(std::string_view bytes, std::uint64_t offset) {
  if (offset >= bytes.size()) return {};
  const std::string_view rest = bytes.substr(offset);
  return std::string(rest.substr(0, rest.find('\0')));
}

}  // namespace

base::Result<std::vector<std::string>> imported_symbols(std::string_view program) {
  const auto damaged = [] { return base::fail(base::ErrorCode::kInvalid, "no dynamic 64-bit ELF program"); };
  const auto head = at<Elf64_Ehdr>(program, 0);
  if (!head || std::memcmp(&head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_ident[EI_CLASS] != ELFCLASS64)
    return damaged();
  const auto section = [&](std::uint64_t index) {
    return at<Elf64_Shdr>(program, head->e_shoff + index * sizeof(Elf64_Shdr));
  };
  for (std::uint64_t i = 0; i < head->e_shnum; ++i) {
    const auto symbols = section(i);
    if (!symbols || symbols->sh_type != SHT_DYNSYM) continue;
    const auto names = section(symbols->sh_link);
    if (!names || names->sh_offset > program.size() || names->sh_size > program.size() - names->sh_offset ||
        symbols->sh_size > program.size())
      return damaged();
    const std::string_view text = program.substr(names->sh_offset, names->sh_size);
    std::vector<std::string> out;
    for (std::uint64_t offset = 0; offset + sizeof(Elf64_Sym) <= symbols->sh_size; offset += sizeof(Elf64_Sym)) {
      const auto symbol = at<Elf64_Sym>(program, symbols->sh_offset + offset);
      if (!symbol) return damaged();
      if (symbol->st_shndx == SHN_UNDEF && symbol->st_name != 0) out.push_back(text_at(text, symbol->st_name));
    }
    return out;
  }
  return damaged();
}

}  // namespace intray::sys
