// The ledger as tools see it. Every listing is one read transaction of its own.
#include "ledger/reader.h"

#include <algorithm>
#include <array>

#include "ledger/sqlite/admission.h"
#include "ledger/sqlite/audit.h"
#include "ledger/sqlite/leases.h"
#include "ledger/sqlite/schema.h"
#include "ledger/sqlite/work.h"
#include "limits.h"
#include "sys/dir.h"
#include "sys/process.h"

namespace intray::ledger {
namespace sqlite {
namespace {

using model::State;

// Bounds of the ids that start with a prefix of their text.
struct IdRange {
  base::JobId low;
  base::JobId high;
};

std::optional<IdRange> range_of_prefix(std::string_view prefix) {
  constexpr std::string_view kShape = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
  if (prefix.size() > kShape.size()) return std::nullopt;
  std::string digits;
  for (std::size_t i = 0; i < prefix.size(); ++i) {
    const char c = prefix[i];
    const bool hyphen = kShape[i] == '-';
    if (hyphen != (c == '-')) return std::nullopt;
    if (hyphen) continue;
    if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) return std::nullopt;
    digits += c;
  }
  constexpr std::size_t kDigits = 32;
  const auto low = base::from_hex(digits + std::string(kDigits - digits.size(), '0'));
  const auto high = base::from_hex(digits + std::string(kDigits - digits.size(), 'f'));
  return IdRange{*base::JobId::from_bytes(*low), *base::JobId::from_bytes(*high)};
}

class SqliteReader final : public Reader {
 public:
  SqliteReader(Database db, const base::Clock& clock) : db_(std::move(db)), clock_(clock), sql_(db_) {}

  base::Result<void> prepare() {
    INTRAY_TRY(db_.execute("PRAGMA temp_store = MEMORY"));
    INTRAY_TRY(check_schema(db_));
    kind_ = INTRAY_TRY(kind_of_ledger(db_));
    return {};
  }

  base::Result<void> list(const ListFilter& filter, const std::function<void(const JobSummary&)>& each) override;
  base::Result<void> files(std::int64_t limit, const std::function<void(const FileSummary&)>& each) override;
  base::Result<Counts> counts() override;
  base::Result<std::vector<JobSummary>> find(const std::string& job_id_prefix, std::size_t max) override;
  base::Result<std::vector<AttemptRow>> attempts(const base::JobSeq& seq) override;
  base::Result<std::string> canonical_bytes(const base::JobSeq& seq) override;
  base::Result<std::vector<AuditRow>> audit(base::AuditSeq after, const std::optional<base::JobId>& job,
                                            std::size_t max) override;
  base::Result<ChainReport> verify_chain() override;
  base::Result<std::vector<LeaseRow>> leases() override;

 private:
  base::Result<std::vector<LeaseRow>> read_leases();
  JobSummary summary_of(const Job& job, const std::vector<LeaseRow>& leases) const;
  bool lease_is_over(const Job& job, const std::vector<LeaseRow>& leases) const;

  Database db_;
  const base::Clock& clock_;
  Statements sql_;
  model::JobKind kind_ = model::JobKind::kSave;
  std::string boot_id_ = sys::boot_id();
};

bool SqliteReader::lease_is_over(const Job& job, const std::vector<LeaseRow>& leases) const {
  if (!job.binding) return false;
  const auto lease = std::find_if(leases.begin(), leases.end(), [&](const LeaseRow& row) {
    return row.identity.binding == *job.binding && row.epoch == job.epoch;
  });
  return lease == leases.end() || lease->released_at || is_expired(*lease, clock_.boot(), boot_id_);
}

JobSummary SqliteReader::summary_of(const Job& job, const std::vector<LeaseRow>& leases) const {
  JobSummary summary;
  summary.job = static_cast<const JobRecord&>(job);  // the part of it that others see
  summary.reason = job.reason;
  summary.result = job.result;
  summary.finished_at = job.finished_at;
  summary.state_since = job.state_since;
  if (job.binding) summary.worker_id = job.worker_id;
  summary.lease_over = lease_is_over(job, leases);
  summary.last_audit = job.last_audit;
  return summary;
}

base::Result<std::vector<LeaseRow>> SqliteReader::read_leases() {
  std::vector<LeaseRow> rows;
  Use use(sql_.list_leases);
  while (INTRAY_TRY(use.next())) {
    Identity identity;
    identity.tenant = use.text();
    identity.agent = use.text();
    identity.binding = use.text();
    rows.push_back(read_lease_columns(use, std::move(identity)));
  }
  INTRAY_TRY(use.intact());
  return rows;
}

base::Result<void> SqliteReader::list(const ListFilter& filter, const std::function<void(const JobSummary&)>& each) {
  const Transaction snapshot = INTRAY_TRY(Transaction::begin_read(db_));
  const std::vector<LeaseRow> leases = INTRAY_TRY(read_leases());
  const auto wanted = [&](State state) {
    return filter.states.empty() || std::find(filter.states.begin(), filter.states.end(), state) != filter.states.end();
  };
  // What waits or runs is few, whatever the history: it has indexes of its own.
  const bool only_live =
      !filter.states.empty() && std::none_of(filter.states.begin(), filter.states.end(), model::is_ended);
  std::string words;
  for (int i = 0; i < model::kStates; ++i) {
    const auto state = static_cast<State>(i);
    if (wanted(state)) words += "," + std::string(model::to_word(state)) + ",";
  }
  Statement& statement = only_live ? (filter.newest_first ? sql_.live_jobs_newest_first : sql_.live_jobs_oldest_first)
                                   : (filter.newest_first ? sql_.jobs_newest_first : sql_.jobs_oldest_first);
  Use use(statement);
  use.bind(words).bind(filter.limit > 0 ? filter.limit : -1);
  while (INTRAY_TRY(use.next())) {
    const Job job = read_job(use, kind_);
    INTRAY_TRY(use.intact());
    each(summary_of(job, leases));
  }
  return {};
}

base::Result<Reader::Counts> SqliteReader::counts() {
  const Transaction snapshot = INTRAY_TRY(Transaction::begin_read(db_));
  Counts out;
  Use by_state(sql_.count_by_state);
  while (INTRAY_TRY(by_state.next())) {
    const auto state = model::parse_state(by_state.text());
    const std::int64_t number = by_state.integer();
    if (state) out.by_state[static_cast<std::size_t>(*state)] = number;
  }
  INTRAY_TRY(by_state.intact());
  Use files(sql_.count_files);
  if (INTRAY_TRY(files.next())) out.files = files.integer();
  INTRAY_TRY(files.intact());
  return out;
}

base::Result<void> SqliteReader::files(std::int64_t limit, const std::function<void(const FileSummary&)>& each) {
  const Transaction snapshot = INTRAY_TRY(Transaction::begin_read(db_));
  Use use(sql_.files_newest_first);
  use.bind(limit > 0 ? limit : -1);
  while (INTRAY_TRY(use.next())) {
    const RejectedFile row = read_rejected_file(use);
    INTRAY_TRY(use.intact());
    FileSummary summary;
    summary.dropped_name = row.name;
    summary.take = row.take;
    summary.owner_uid = row.owner_uid;
    summary.taken_at = row.taken_at;
    summary.reason = row.reason;
    summary.detail = row.detail;
    summary.job_id = row.job_id;
    each(summary);
  }
  return {};
}

base::Result<std::vector<JobSummary>> SqliteReader::find(const std::string& job_id_prefix, std::size_t max) {
  std::vector<JobSummary> found;
  const auto range = range_of_prefix(job_id_prefix);
  if (!range) return found;
  const Transaction snapshot = INTRAY_TRY(Transaction::begin_read(db_));
  const std::vector<LeaseRow> leases = INTRAY_TRY(read_leases());
  Use use(sql_.jobs_by_id_range);
  use.bind(range->low).bind(range->high).bind(static_cast<std::int64_t>(max));
  while (INTRAY_TRY(use.next())) {
    found.push_back(summary_of(read_job(use, kind_), leases));
    INTRAY_TRY(use.intact());
  }
  return found;
}

base::Result<std::vector<AttemptRow>> SqliteReader::attempts(const base::JobSeq& seq) {
  std::vector<AttemptRow> rows;
  Use use(sql_.attempts_of_job);
  use.bind(seq);
  while (INTRAY_TRY(use.next())) {
    AttemptRow& row = rows.emplace_back();
    row.attempt_id = use.id<base::AttemptId>();
    row.number = static_cast<int>(use.integer());
    row.repetition = static_cast<int>(use.integer());
    row.effect_key = use.hash();
    row.content_sha256 = use.hash();
    row.started_at = use.time();
    row.ended_at = use.time_or_null();
    row.outcome = use.text();
    if (const auto status = use.integer_or_null()) row.http_status = static_cast<int>(*status);
    row.observed_sha256 = use.hash_or_null();
    row.epoch = use.number<base::Epoch>();
    row.fence = use.number<base::Fence>();
  }
  INTRAY_TRY(use.intact());
  return rows;
}

base::Result<std::string> SqliteReader::canonical_bytes(const base::JobSeq& seq) {
  Use use(sql_.body);
  if (!INTRAY_TRY(use.bind(seq).next())) {
    return base::fail(base::ErrorCode::kNotFound, "job " + std::to_string(seq.value) + ": not in the ledger");
  }
  return use.text();
}

base::Result<std::vector<AuditRow>> SqliteReader::audit(base::AuditSeq after, const std::optional<base::JobId>& job,
                                                        std::size_t max) {
  std::vector<AuditRow> rows;
  Use use(job ? sql_.audit_of_job : sql_.audit_after);
  use.bind(after);
  if (job) use.bind(*job);
  use.bind(static_cast<std::int64_t>(max));
  while (INTRAY_TRY(use.next())) rows.push_back(read_audit_row(use));
  INTRAY_TRY(use.intact());
  return rows;
}

// What is wrong with a row that should follow `head`; "" where nothing is.
template <class Row>
std::string broken_link(const ChainHead& head, const Row& row, std::int64_t seq) {
  if (seq != head.seq + 1) return "row " + std::to_string(head.seq + 1) + " is missing";
  if (row.prev_hash != head.hash) return "does not follow the row before it";
  if (row.hash != chained_hash(head.hash, row)) return "its content does not match its hash";
  return "";
}

base::Result<Reader::ChainReport> SqliteReader::verify_chain() {
  ChainReport report;
  ChainHead head;
  // In steps, so that no read transaction grows old; rows are only ever added behind.
  while (true) {
    Use use(sql_.audit_after);
    use.bind(head.seq).bind(limits::kAuditRowsPerStep);
    std::int64_t rows = 0;
    while (INTRAY_TRY(use.next())) {
      ++rows;
      const AuditRow row = read_audit_row(use);
      std::string why = use.intact() ? broken_link(head, row, row.seq.value) : "a column holds the wrong kind of value";
      if (!why.empty()) {
        report.broken_at = base::AuditSeq{head.seq + 1};
        report.why = std::move(why);
        return report;
      }
      head = {row.seq.value, row.hash};
      ++report.rows;
      report.head = row.hash;
    }
    if (rows == 0) break;
  }
  // Rows cut off at the end leave no gap, but the jobs still name them.
  const std::int64_t newest = INTRAY_TRY(db_.read_integer(std::string(sql::newest_job_audit)));
  const std::int64_t last = INTRAY_TRY(db_.read_integer(std::string(sql::newest_audit)));
  if (newest > last) {
    report.broken_at = base::AuditSeq{last + 1};
    report.why = "rows are missing at the end: a job names row " + std::to_string(newest);
    return report;
  }
  ChainHead lease_head;
  Use use(sql_.lease_audit_after);
  use.bind(std::int64_t{0});
  while (INTRAY_TRY(use.next())) {
    const LeaseAuditRow row = read_lease_audit_row(use);
    std::string why = use.intact() ? broken_link(lease_head, row, row.seq) : "a column holds the wrong kind of value";
    if (!why.empty()) {
      report.broken_at = base::AuditSeq{lease_head.seq + 1};
      report.why = "lease_audit: " + why;
      return report;
    }
    lease_head = {row.seq, row.hash};
    ++report.rows;
  }
  return report;
}

base::Result<std::vector<LeaseRow>> SqliteReader::leases() { return read_leases(); }

}  // namespace
}  // namespace sqlite

base::Result<std::unique_ptr<Reader>> open_sqlite_reader(const std::string& path, const base::Clock& clock) {
  const std::size_t slash = path.rfind('/');
  const sys::Dir directory = INTRAY_TRY(sys::Dir::open(slash == std::string::npos ? "." : path.substr(0, slash + 1)));
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  INTRAY_TRY(directory.stat(name));
  auto db = sqlite::Database::open(path, sqlite::Database::Mode::kRead, base::Micros{limits::kReaderBusy_us});
  if (!db) return std::unexpected(std::move(db).error());
  auto reader = std::make_unique<sqlite::SqliteReader>(std::move(*db), clock);
  auto prepared = reader->prepare();
  if (!prepared) {
    base::Error error = std::move(prepared).error();
    const bool side_files = directory.stat(name + "-wal").has_value() && directory.stat(name + "-shm").has_value();
    if (error.code == base::ErrorCode::kDenied && !side_files) {
      error.what = path +
                   ": its -wal and -shm files are missing and can't be made with these rights; start the executor, or "
                   "run this as its user";
    }
    return std::unexpected(std::move(error));
  }
  return reader;
}

}  // namespace intray::ledger
