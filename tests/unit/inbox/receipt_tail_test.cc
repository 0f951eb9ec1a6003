#include "inbox/receipt_tail.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "base/hash.h"
#include "inbox_fixture.h"

using namespace intray;
using test::InboxFixture;
using test::value_of;

namespace {

const base::JobId kJob = *base::JobId::parse("0b0e5b1c-1111-4222-8333-444455556666");

std::string line(std::int64_t seq) {
  model::Receipt r;
  r.job_id = kJob;
  r.job_sha256 = base::sha256("job");
  r.state = model::State::kSucceeded;
  r.result = model::ResultWord::kApplied;
  r.audit_seq = {seq};
  r.epoch = {1};
  r.worker_id = base::WorkerId::generate();
  return model::to_line(r) + "\n";
}

class Tail {
 public:
  explicit Tail(const char* since = "2026-11-29T23:00:00Z")
      : tail(value_of(sys::Dir::open(fixture.path("receipts"))), *base::parse_rfc3339(since)) {}
  void append(const std::string& day, const std::string& text) const {
    std::ofstream(fixture.path("receipts/" + day + ".jsonl"), std::ios::app) << text;
  }
  // audit_seq of what was read this time.
  std::vector<std::int64_t> read() {
    std::vector<std::int64_t> seen;
    value_of(tail.read([&](const model::Receipt& r) { seen.push_back(r.audit_seq.value); }));
    return seen;
  }
  InboxFixture fixture;
  inbox::ReceiptTail tail;
};

using Seqs = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("ReceiptTail: each line once, over half lines, torn lines and days") {
  Tail t;
  t.append("2026-11-28", line(1));  // before `since`
  CHECK(t.read().empty());
  const std::string second = line(2);
  t.append("2026-11-29", second.substr(0, 100));
  CHECK(t.read().empty());
  t.append("2026-11-29", second.substr(100));
  CHECK(t.read() == Seqs{2});
  t.append("2026-11-29", "{\"torn\n" + line(3));
  t.append("2026-11-30", line(4));
  std::ofstream(t.fixture.path("receipts/notes.txt")) << "no day\n";
  std::ofstream(t.fixture.path("receipts/2026-99-99.jsonl")) << line(9);
  CHECK(t.read() == Seqs{3, 4});
  CHECK(t.read().empty());
  CHECK(t.tail.skipped() == 1);
}

TEST_CASE("ReceiptTail: two workers around midnight append to two days in turn, and nothing is missed") {
  Tail t;
  t.append("2026-11-29", line(1));
  CHECK(t.read() == Seqs{1});
  t.append("2026-11-30", line(2));
  CHECK(t.read() == Seqs{2});
  t.append("2026-11-29", line(3));
  CHECK(t.read() == Seqs{3});
  t.append("2026-11-29", line(4).substr(0, 50));
  t.append("2026-11-30", line(5));
  CHECK(t.read() == Seqs{5});
}

TEST_CASE("ReceiptTail: a clock that goes back makes a day that was not there, and it is read") {
  Tail t;
  t.append("2026-11-30", line(1));
  CHECK(t.read() == Seqs{1});
  t.append("2026-11-29", line(2));
  CHECK(t.read() == Seqs{2});
}

TEST_CASE("ReceiptTail: many days hold few files open, and each is read") {
  Tail t("2026-11-01T00:00:00Z");
  Seqs all;
  for (int day = 1; day <= 30; ++day) {
    t.append("2026-11-" + std::string(day < 10 ? "0" : "") + std::to_string(day), line(day));
    all.push_back(day);
  }
  const auto open_files = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
  };
  const auto before = open_files();
  CHECK(t.read() == all);
  CHECK(open_files() == before + 3);
  CHECK(t.read().empty());
}

TEST_CASE("ReceiptTail: a line beyond every bound is one that is skipped") {
  Tail t;
  t.append("2026-11-29", std::string(200'000, 'x'));
  CHECK(t.read().empty());
  t.append("2026-11-29", std::string(200'000, 'x') + "\n" + line(1));
  CHECK(t.read() == Seqs{1});
  CHECK(t.tail.skipped() == 1);
}
