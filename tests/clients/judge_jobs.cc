// What the executor's parser says of job files, for clients to compare themselves with.
// Standard input: records of 4 bytes of length (little-endian), 's' or 'd' for the kind, and that many bytes. Standard
// output: one line for each, OK or the reason code; a SHA-1 repository, defaults else, no clock.
#include <cstdint>
#include <cstdio>
#include <string>

#include "model/job.h"

namespace {

using namespace intray;

std::string verdict(const std::string& bytes, char kind) {
  model::JobRules rules;
  rules.kind = kind == 's' ? model::JobKind::kSave : model::JobKind::kDelete;
  const auto word = [](const auto& job) {
    return job ? std::string("OK") : std::string(model::to_word(job.error().reason));
  };
  return rules.kind == model::JobKind::kSave ? word(model::parse_save_job(bytes, rules))
                                             : word(model::parse_delete_job(bytes, rules));
}

bool read_record(std::string& bytes, char& kind) {
  unsigned char head[5];
  if (std::fread(head, 1, sizeof head, stdin) != sizeof head) return false;
  const std::uint32_t length =
      head[0] | std::uint32_t{head[1]} << 8U | std::uint32_t{head[2]} << 16U | std::uint32_t{head[3]} << 24U;
  kind = static_cast<char>(head[4]);
  bytes.resize(length);
  return std::fread(bytes.data(), 1, length, stdin) == length;
}

}  // namespace

int main() {
  std::string bytes;
  for (char kind = 0; read_record(bytes, kind);) std::puts(verdict(bytes, kind).c_str());
}
