// The whole corpus of job files (tests/data/jobs) against the parser: each must end with the code that its index gives.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "model/job.h"

namespace intray::model {
namespace {

struct Row {
  std::string file, kind, expected, clock, object_format, what;
};

std::string corpus() {
  const char* const folder = std::getenv("INTRAY_JOB_CORPUS");
  REQUIRE(folder != nullptr);
  return folder;
}

std::vector<Row> index_rows() {
  std::ifstream in(corpus() + "/index.tsv");
  std::vector<Row> rows;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with('#')) continue;
    std::vector<std::string> cells;
    for (std::size_t at = 0; at <= line.size();) {
      const std::size_t tab = std::min(line.find('\t', at), line.size());
      cells.push_back(line.substr(at, tab - at));
      at = tab + 1;
    }
    REQUIRE(cells.size() == 6);
    rows.push_back({cells[0], cells[1], cells[2], cells[3], cells[4], cells[5]});
  }
  return rows;
}

std::string content_of(const std::string& file) {
  std::ifstream in(corpus() + "/" + file, std::ios::binary);
  REQUIRE(in.good());
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// Parses and judges the age, as admission does; writes a good job back.
template <class Job>
std::string verdict(const std::expected<Job, Rejection>& job, const std::string& bytes, const Row& row,
                    const JobRules& rules) {
  if (!job) return std::string(to_word(job.error().reason));
  const auto now = base::parse_rfc3339(row.clock);
  REQUIRE(now);
  CHECK(to_canonical(*job) == bytes);
  const auto age = check_age(job->created_at, *now, rules);
  return age ? std::string(to_word(age->reason)) : "OK";
}

TEST_CASE("every job file of the corpus ends with the code of its index") {
  const std::vector<Row> rows = index_rows();
  REQUIRE(rows.size() > 290);
  for (const Row& row : rows) {
    INFO(row.file << ": " << row.what);
    JobRules rules;
    rules.kind = row.kind == "save" ? JobKind::kSave : JobKind::kDelete;
    rules.object_format = row.object_format == "sha1" ? ObjectFormat::kSha1 : ObjectFormat::kSha256;
    const std::string bytes = content_of(row.file);
    const std::string got = rules.kind == JobKind::kSave ? verdict(parse_save_job(bytes, rules), bytes, row, rules)
                                                         : verdict(parse_delete_job(bytes, rules), bytes, row, rules);
    CHECK(got == row.expected);
  }
}

}  // namespace
}  // namespace intray::model
