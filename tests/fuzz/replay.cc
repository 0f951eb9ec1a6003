// Runs a target once over each file of the directories named, without a fuzzer: the seeds and the cases that were found
// are plain regression tests. A directory that is not there holds nothing; no file at all is a failure.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "target.h"

int main(int argc, char** argv) {
  LLVMFuzzerInitialize(&argc, &argv);
  std::vector<std::filesystem::path> files;
  for (int i = 1; i < argc; ++i) {
    if (!std::filesystem::is_directory(argv[i])) continue;
    for (const auto& entry : std::filesystem::directory_iterator(argv[i])) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  for (const auto& file : files) {
    std::fprintf(stderr, "%s\n", file.c_str());  // the last one named is the one that ends the process
    std::ifstream in(file, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), {}};
    if (!in.good() && !in.eof()) return 1;
    const auto* octets =
        reinterpret_cast<const std::uint8_t*>(bytes.data());  // NOLINT(*-reinterpret-cast): chars as octets
    LLVMFuzzerTestOneInput(octets, bytes.size());
  }
  std::printf("%zu cases\n", files.size());
  return files.empty() ? 1 : 0;
}
