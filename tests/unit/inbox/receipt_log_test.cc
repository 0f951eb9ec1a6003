#include "inbox/receipt_log.h"

#include <catch2/catch.hpp>

#include "base/hash.h"
#include "inbox_fixture.h"

using namespace intray;
using base::ErrorCode;
using test::InboxFixture;
using test::value_of;
using namespace std::chrono_literals;

namespace {

const base::WallTime kNoon = *base::parse_rfc3339("2026-11-30T12:00:00Z");
const std::string kFile = "receipts/2026-11-30.jsonl";

model::Receipt receipt(std::int64_t seq, const base::JobId& job_id = base::JobId::generate()) {
  model::Receipt out;
  out.job_id = job_id;
  out.job_sha256 = base::sha256("bytes");
  out.state = model::State::kSucceeded;
  out.result = model::ResultWord::kApplied;
  out.attempts = 1;
  out.admitted_at = kNoon;
  out.finished_at = kNoon;
  out.audit_seq = {seq};
  out.audit_hash = base::sha256("audit");
  out.epoch = {1};
  out.worker_id = base::WorkerId::generate();
  return out;
}

std::vector<std::string> lines_of(std::initializer_list<std::int64_t> seqs) {
  std::vector<std::string> lines;
  for (const auto seq : seqs) lines.push_back(model::to_line(receipt(seq)));
  return lines;
}

struct Seen {
  std::vector<std::int64_t> seqs;
  int unreadable = 0;
};

Seen read(const InboxFixture& fixture, base::WallTime since = kNoon - 24h) {
  Seen seen;
  seen.unreadable = value_of(inbox::read_receipts(
      fixture.tree->receipts, since, [&](const model::Receipt& r) { seen.seqs.push_back(r.audit_seq.value); }));
  return seen;
}

}  // namespace

TEST_CASE("receipts: appended lines are read back in order, day by day") {
  const InboxFixture fixture;
  inbox::ReceiptWriter writer(fixture.tree->receipts, 0640);
  CHECK_FALSE(writer.dirty());
  value_of(writer.append(lines_of({1, 2}), kNoon));
  CHECK(writer.dirty());
  value_of(writer.append(lines_of({3}), kNoon + 1h));
  value_of(writer.append(lines_of({4}), kNoon + 24h));
  value_of(writer.sync());
  CHECK_FALSE(writer.dirty());
  value_of(writer.append({}, kNoon));
  CHECK_FALSE(writer.dirty());
  CHECK(fixture.names("receipts") == std::vector<std::string>{"2026-11-30.jsonl", "2026-12-01.jsonl"});
  CHECK(value_of(fixture.tree->receipts.stat("2026-11-30.jsonl")).mode == 0640);
  CHECK(read(fixture).seqs == std::vector<std::int64_t>{1, 2, 3, 4});
  CHECK(read(fixture, kNoon + 11h).seqs == std::vector<std::int64_t>{1, 2, 3, 4});
  CHECK(read(fixture, kNoon + 13h).seqs == std::vector<std::int64_t>{4});
}

TEST_CASE("receipts: one append is one write, and syncs come when asked for") {
  using sys::fault::Op;
  const InboxFixture fixture;
  inbox::ReceiptWriter writer(fixture.tree->receipts, 0640);
  int writes = 0;
  int syncs = 0;
  sys::fault::set_hook([&](Op op) -> sys::fault::Verdict {
    writes += op == Op::kWrite ? 1 : 0;
    syncs += op == Op::kSync || op == Op::kDataSync ? 1 : 0;
    return {};
  });
  const auto first = writer.append(lines_of({1, 2, 3}), kNoon);
  const int syncs_of_append = syncs;
  const auto second = writer.append(lines_of({4}), kNoon);
  const auto synced = writer.sync();
  const int syncs_of_new_day = syncs;
  const auto third = writer.append(lines_of({5}), kNoon);
  const auto synced_again = writer.sync();
  sys::fault::set_hook({});
  CHECK((first && second && third && synced && synced_again));
  CHECK(writes == 3);
  CHECK(syncs_of_append == 0);
  CHECK(syncs_of_new_day == 2);  // the file, and the directory for its new name
  CHECK(syncs == 3);
}

TEST_CASE("receipts: yesterday's file is synced before it is let go") {
  using sys::fault::Op;
  const InboxFixture fixture;
  inbox::ReceiptWriter writer(fixture.tree->receipts, 0640);
  value_of(writer.append(lines_of({1}), kNoon));
  sys::fault::set_hook([](Op op) -> sys::fault::Verdict { return {.error = op == Op::kDataSync ? EIO : 0}; });
  const auto failed = writer.append(lines_of({2}), kNoon + 24h);
  sys::fault::set_hook({});
  CHECK(failed.error().code == ErrorCode::kIo);
  value_of(writer.append(lines_of({1, 2}), kNoon + 24h));
  value_of(writer.sync());
  CHECK(read(fixture).seqs == std::vector<std::int64_t>{1, 1, 2});
}

TEST_CASE("receipts: a torn last line is skipped by readers and closed off by writers") {
  const InboxFixture fixture;
  const std::string whole = model::to_line(receipt(1));
  for (const std::size_t cut : {std::size_t{1}, whole.size() / 2, whole.size()}) {
    test::write_text(fixture.path(kFile), whole + "\n" + whole.substr(0, cut));
    CHECK(read(fixture).seqs == std::vector<std::int64_t>{1});
    CHECK(read(fixture).unreadable == 0);
    inbox::ReceiptWriter writer(fixture.tree->receipts, 0640);
    value_of(writer.append(lines_of({2, 3}), kNoon));
    const auto seen = read(fixture);
    if (cut == whole.size()) {
      CHECK(seen.seqs == std::vector<std::int64_t>{1, 1, 2, 3});  // only its newline was lost
    } else {
      CHECK(seen.seqs == std::vector<std::int64_t>{1, 2, 3});
      CHECK(seen.unreadable == 1);
    }
  }
}

TEST_CASE("receipts: another writer's torn line doesn't swallow ours") {
  const InboxFixture fixture;
  inbox::ReceiptWriter ours(fixture.tree->receipts, 0640);
  value_of(ours.append(lines_of({1}), kNoon));
  const auto theirs = value_of(fixture.tree->receipts.open_append("2026-11-30.jsonl", 0640));
  value_of(sys::write_all(theirs.get(), R"({"admitted_at":"2026-)"));
  value_of(ours.append(lines_of({2}), kNoon));
  CHECK(read(fixture).seqs == std::vector<std::int64_t>{1, 2});
}

TEST_CASE("receipts: lines that are none are counted, whatever they are; other files are left out") {
  const InboxFixture fixture;
  test::write_text(fixture.path(kFile), "\n{}\n" + std::string(1'000'000, 'x') + "\n" + std::string(3, '\0') + "\n" +
                                            model::to_line(receipt(7)) + "\n\xff\n");
  test::write_text(fixture.path("receipts/2026-13-30.jsonl"), "x\n");
  test::write_text(fixture.path("receipts/readme"), "x\n");
  const auto seen = read(fixture);
  CHECK(seen.seqs == std::vector<std::int64_t>{7});
  CHECK(seen.unreadable == 5);
}

TEST_CASE("receipts: the highest audit_seq answers, for the right job and bytes only") {
  const InboxFixture fixture;
  const auto id = base::JobId::generate();
  auto early = receipt(5, id);
  auto late = receipt(9, id);
  late.state = model::State::kUnknown;
  late.reason = model::Reason::kResponseLost;
  late.result = model::ResultWord::kUnknown;
  auto other_bytes = receipt(20, id);
  other_bytes.job_sha256 = base::sha256("other");
  auto never_read = receipt(30, id);
  never_read.job_sha256.reset();
  inbox::ReceiptWriter writer(fixture.tree->receipts, 0640);
  value_of(writer.append(lines_of({1, 2}), kNoon));
  const std::vector<std::string> lines{model::to_line(late), model::to_line(early), model::to_line(other_bytes),
                                       model::to_line(never_read), model::to_line(late)};
  value_of(writer.append(lines, kNoon));
  const auto found = value_of(inbox::find_receipt(fixture.tree->receipts, kNoon, id, base::sha256("bytes")));
  REQUIRE(found);
  CHECK(found->audit_seq.value == 9);
  CHECK(found->state == model::State::kUnknown);
  CHECK_FALSE(value_of(inbox::find_receipt(fixture.tree->receipts, kNoon, id, base::sha256("third"))));
  CHECK_FALSE(value_of(inbox::find_receipt(fixture.tree->receipts, kNoon + 24h, id, base::sha256("bytes"))));
}

// Fails the 1st, 2nd, 3rd… disk call until a run finishes untouched.
TEST_CASE("receipts: after every failed step appending again leaves all lines readable") {
  const InboxFixture fixture;
  for (const test::Way& way : test::ways_to_fail()) {
    bool finished = false;
    for (int at = 1; !finished; ++at) {
      INFO(way.name << ", call " << at);
      REQUIRE(at < 100);
      fixture.clear();
      inbox::ReceiptWriter writer(fixture.tree->receipts, 0640);
      value_of(writer.append(lines_of({1}), kNoon));
      value_of(writer.sync());
      bool durable = false;
      {
        const test::FailNth fail(at, way.verdict, way.from_then_on);
        durable = writer.append(lines_of({2, 3}), kNoon + 24h) && writer.sync();
        finished = fail.calls() < at;
      }
      if (finished) CHECK(durable);
      if (!durable) {
        value_of(writer.append(lines_of({2, 3}), kNoon + 24h));
        value_of(writer.sync());
      }
      const auto seen = read(fixture);
      const std::set<std::int64_t> seqs(seen.seqs.begin(), seen.seqs.end());
      CHECK(seqs == std::set<std::int64_t>{1, 2, 3});
      CHECK(seen.unreadable == 0);
    }
  }
}

// A write that ends in the middle for want of space: some of it is in the file, and the caller is told.
TEST_CASE("receipts: a write cut off by a full disk is closed off by the next") {
  using sys::fault::Op;
  const InboxFixture fixture;
  inbox::ReceiptWriter writer(fixture.tree->receipts, 0640);
  value_of(writer.append(lines_of({1}), kNoon));
  int writes = 0;
  sys::fault::set_hook([&](Op op) -> sys::fault::Verdict {
    if (op != Op::kWrite) return {};
    return ++writes == 1 ? sys::fault::Verdict{.half_write = true} : sys::fault::Verdict{.error = ENOSPC};
  });
  const auto failed = writer.append(lines_of({2}), kNoon);
  sys::fault::set_hook({});
  CHECK(failed.error().code == ErrorCode::kNoSpace);
  value_of(writer.append(lines_of({2}), kNoon));
  const auto seen = read(fixture);
  CHECK(seen.seqs == std::vector<std::int64_t>{1, 2});
  CHECK(seen.unreadable == 1);
}
