// The C++ headers, as a program of another standard (C++17) uses them: over the shared library, with nothing else of
// the tree.
#include <intray/error.h>
#include <intray/job.h>
#include <intray/receipt.h>
#include <intray/submit.h>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

static_assert(__cplusplus == 201703L, "the headers must not need more");

using namespace std::chrono_literals;

namespace {

class Site {
 public:
  Site() {
    std::string name = (std::filesystem::temp_directory_path() / "intray-cpp-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    root = name;
    for (const char* const folder : {"tmp", "new", "receipts"}) std::filesystem::create_directories(path(folder));
  }
  ~Site() {
    std::error_code ignored;
    std::filesystem::remove_all(root, ignored);
  }
  Site(const Site&) = delete;
  Site& operator=(const Site&) = delete;
  std::string path(const std::string& name) const { return root + "/save/" + name; }
  std::string root;
};

intray::SaveFields fields() {
  intray::SaveFields out;
  out.object_id = "p-1";
  out.vault_path = "/app/vault/Fähre.md";
  out.source_commit = std::string(40, 'a');
  out.provenance_hash = *intray::provenance_hash(out.source_commit, "# F\n", "p-1", "Fähre.md", "UNSET");
  out.expected_state = "UNSET";
  return out;
}

intray::Job job() {
  auto made = intray::Job::make(fields());
  REQUIRE(made);
  return *made;
}

// As the executor writes it.
std::string receipt(const intray::Job& job, const char* state, int seq) {
  return "{\"admitted_at\":\"2026-11-30T12:00:00.000000Z\",\"attempts\":1,\"audit_hash\":\"" + std::string(64, 'c') +
         "\",\"audit_seq\":" + std::to_string(seq) +
         ",\"epoch\":1,\"evidence\":{\"http_status\":200},\"finished_at\":" +
         "\"2026-11-30T12:00:01.500000Z\",\"job_id\":\"" + std::string(job.id()) + "\",\"job_sha256\":\"" +
         std::string(job.sha256()) + "\",\"job_type\":\"C5_SAVE_OBJECT\",\"reason\":null,\"receipt_version\":1," +
         "\"result\":\"APPLIED\",\"state\":\"" + state + "\",\"worker_id\":\"1b0e5b1c-1111-4222-8333-444455556666\"}";
}

}  // namespace

TEST_CASE("a job is made, checked and made canonical") {
  const intray::Job made = job();
  CHECK(made.kind() == intray::Kind::kSave);
  CHECK(made.member("vault_path") == "/app/vault/Fähre.md");
  CHECK(made.member("job_id") == made.id());
  CHECK_FALSE(made.member("job_version"));
  const auto parsed = intray::Job::parse(intray::Kind::kSave, made.bytes());
  REQUIRE(parsed);
  CHECK(parsed->file_name() == made.file_name());
  CHECK(parsed->sha256() == made.sha256());
  const auto canonical = intray::Job::canonicalize(" " + std::string(made.bytes()) + "\n");
  REQUIRE(canonical);
  CHECK(canonical->bytes() == made.bytes());
  CHECK(intray::Job::parse(intray::Kind::kDelete, made.bytes()).error().reason == "UNKNOWN_JOB_TYPE");
  CHECK(intray::Job::parse(intray::Kind::kSave, {}).error().reason == "EMPTY_FILE");

  intray::DeleteFields remove;
  remove.mission_id = remove.delete_request_id = remove.approval_id = "1b0e5b1c-1111-4222-8333-444455556666";
  remove.object_id = "p-1";
  remove.vault_path = "/app/vault/a.md";
  remove.expected_commit = std::string(40, 'a');
  remove.expected_provenance_hash = std::string(64, 'b');
  const auto removal = intray::Job::make(remove);
  REQUIRE(removal);
  CHECK(removal->kind() == intray::Kind::kDelete);
}

TEST_CASE("a note without an id has one of its path") {
  CHECK(*intray::object_id_of_path("a.md") == "p-fecccc97532467adbf93017b357c8b17");
  CHECK_FALSE(intray::object_id_of_path(std::string("a\0b", 3)));
}

TEST_CASE("a NUL in a field is refused and hides nothing") {
  auto some = fields();
  some.vault_path = std::string("/app/vault/a.md\0/../../etc/passwd", 33);
  const auto made = intray::Job::make(some);
  REQUIRE_FALSE(made);
  CHECK(made.error().code == intray::Code::kRefused);
  CHECK(made.error().reason == "BAD_VALUE");
  CHECK_FALSE(intray::provenance_hash(std::string("a\0b", 3), "", "p", "a.md", "UNSET"));
}

TEST_CASE("rules are the site's") {
  intray::Rules rules;
  rules.vault_root = "/notes";
  CHECK(intray::Job::make(fields(), rules).error().reason == "UNSAFE_PATH");
  rules = {};
  rules.object_format = intray::ObjectFormat::kSha256;
  CHECK(intray::Job::make(fields(), rules).error().reason == "BAD_VALUE");
  rules = {};
  rules.now = std::chrono::system_clock::now() + 200h;
  const intray::Job made = job();
  CHECK(intray::Job::parse(intray::Kind::kSave, made.bytes(), rules).error().reason == "JOB_TOO_OLD");
  rules.max_age = 300h;
  CHECK(intray::Job::parse(intray::Kind::kSave, made.bytes(), rules));
  rules.extensions.clear();
  CHECK(intray::Job::parse(intray::Kind::kSave, made.bytes(), rules).error().code == intray::Code::kInvalidArgument);
}

TEST_CASE("jobs are handed over, one and many") {
  const Site site;
  auto inbox = intray::Inbox::open(site.root, intray::Kind::kSave);
  REQUIRE(inbox);
  const intray::Job first = job();
  CHECK(inbox->submit(first).hand_off == intray::HandOff::kAccepted);
  CHECK(inbox->submit(first).hand_off == intray::HandOff::kAlready);
  std::ofstream(site.path("new/" + std::string(first.file_name()))) << "another's";
  const auto many = inbox->submit(std::vector<intray::Job>{job(), first, job()});
  REQUIRE(many.size() == 3);
  CHECK(many[0].hand_off == intray::HandOff::kAccepted);
  CHECK_FALSE(many[0].error);
  CHECK(many[1].hand_off == intray::HandOff::kNotAccepted);
  CHECK(many[1].error->code == intray::Code::kBusy);
  CHECK(many[2].hand_off == intray::HandOff::kAccepted);
  std::filesystem::remove(site.path("new/" + std::string(first.file_name())));
  std::filesystem::remove_all(site.path("tmp"));
  CHECK(intray::Inbox::open(site.root, intray::Kind::kSave).error().code == intray::Code::kNotFound);
  CHECK(inbox->submit(std::vector<intray::Job>{}).empty());
}

TEST_CASE("receipts are waited for") {
  const Site site;
  auto inbox = intray::Inbox::open(site.root, intray::Kind::kSave);
  REQUIRE(inbox);
  const intray::Job first = job();
  const intray::Job second = job();
  CHECK(intray::wait(*inbox, first, 1ms).error().code == intray::Code::kTimeout);
  std::ofstream(site.path("receipts/2099-01-01.jsonl")) << receipt(first, "OUTCOME_UNKNOWN", 1) << "\n"
                                                        << receipt(first, "SUCCEEDED", 2) << "\n"
                                                        << receipt(second, "SUCCEEDED", 3).substr(0, 40);
  const auto got = intray::wait(*inbox, first);
  REQUIRE(got);
  CHECK(got->state == intray::State::kSucceeded);
  CHECK(got->result == "APPLIED");
  CHECK_FALSE(got->reason);
  CHECK(got->job_id == first.id());
  CHECK(got->finished_at - got->admitted_at == 1500ms);
  CHECK(got->json == receipt(first, "SUCCEEDED", 2));

  auto waiter = intray::Waiter::make(*inbox);
  REQUIRE(waiter);
  CHECK(waiter->next(0us).error().code == intray::Code::kNoneLeft);
  CHECK_FALSE(waiter->add(first));
  CHECK_FALSE(waiter->add(std::string(second.id()), std::string(second.sha256()), std::chrono::system_clock::now()));
  CHECK(waiter->next(0us)->audit_seq == 2);
  CHECK(waiter->next(0us).error().code == intray::Code::kTimeout);
  CHECK(waiter->pending() == 1);
  std::ofstream(site.path("receipts/2099-01-01.jsonl"), std::ios::app) << "\n" << receipt(second, "FAILED", 4) << "\n";
  CHECK(waiter->next()->state == intray::State::kFailed);
  CHECK(waiter->next().error().code == intray::Code::kNoneLeft);
  const auto refused = waiter->add("x", "y", {});
  REQUIRE(refused);
  CHECK(refused->code == intray::Code::kInvalidArgument);
  CHECK_FALSE(refused->message.empty());
}
