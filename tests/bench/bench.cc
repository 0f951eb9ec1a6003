// intray-bench: the parts of the benchmark that must be measured in process, each beside its floor of bare system calls
// or bare libcurl. tools/dev/bench drives it and prints the table. Results go to stdout, one "name value" a line; rates
// are per second, times in microseconds.
//
//   intray-bench handoff DIR WRITERS JOBS             one round: floor and product, alternating order by DIR's round
//   intray-bench handoff-batch DIR BATCH JOBS
//   intray-bench http URL CREDENTIAL_FILE IN_FLIGHT FIRST COUNT   POST and read-back of notes FIRST.. with bare libcurl
//   intray-bench lone ROOT JOBS_FILE                  each job alone: hand-off to receipt, median
//   intray-bench confine DIR ROUNDS JOBS              a job's system calls, free and locked down: smallest of the
//   rounds intray-bench chain DIR URL CREDENTIAL_FILE COUNT  the same steps with bare calls, median
#include <curl/curl.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/hash.h"
#include "confine_bench.h"
#include "inbox/handoff.h"

namespace {

using namespace intray;
using Steady = std::chrono::steady_clock;

[[noreturn]] void die(const std::string& what) {
  std::fprintf(stderr, "intray-bench: %s: %s\n", what.c_str(), std::strerror(errno));
  std::exit(1);
}
void must(bool ok, const char* what) {
  if (!ok) die(what);
}
double seconds_since(Steady::time_point t) { return std::chrono::duration<double>(Steady::now() - t).count(); }
void print(const char* name, double value) { std::printf("%s %.3f\n", name, value); }
double median(std::vector<double> v) {
  std::ranges::sort(v);
  return v.empty() ? 0 : v[v.size() / 2];
}

inbox::Parcel parcel() {
  static std::atomic<std::int64_t> count{0};
  inbox::Parcel p{{base::from_us(1'796'044'522'000'000 + count++), base::JobId::generate()}, std::string(600, 'x')};
  return p;
}

// ---- hand-off ----

struct Pair {
  std::string tmp, fresh;
  int tmp_fd = -1, fresh_fd = -1;
};
Pair make_pair_of_dirs(const std::string& dir) {
  Pair p{dir + "/tmp", dir + "/new"};
  must(::mkdir(dir.c_str(), 0700) == 0 && ::mkdir(p.tmp.c_str(), 0700) == 0 && ::mkdir(p.fresh.c_str(), 0700) == 0,
       "mkdir");
  p.tmp_fd = ::open(p.tmp.c_str(), O_RDONLY | O_DIRECTORY);
  p.fresh_fd = ::open(p.fresh.c_str(), O_RDONLY | O_DIRECTORY);
  must(p.tmp_fd >= 0 && p.fresh_fd >= 0, "open");
  return p;
}
int write_floor(const Pair& p, const std::string& name, const std::string& bytes) {
  const int fd = ::openat(p.tmp_fd, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
  must(fd >= 0 && ::fchmod(fd, 0644) == 0 &&
           ::write(fd, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()),
       "write");
  return fd;
}
void rename_floor(const Pair& p, const std::string& name) {
  must(::renameat2(p.tmp_fd, name.c_str(), p.fresh_fd, name.c_str(), RENAME_NOREPLACE) == 0, "rename");
}
void floor_handoff(const Pair& p, const inbox::Parcel& job) {
  const std::string name = job.name.str();
  const int fd = write_floor(p, name, job.bytes);
  must(::fsync(fd) == 0, "fsync");
  ::close(fd);
  rename_floor(p, name);
  must(::fsync(p.fresh_fd) == 0, "fsync");
}
void floor_batch(const Pair& p, const std::vector<inbox::Parcel>& jobs) {
  std::vector<int> fds;
  for (const auto& job : jobs) fds.push_back(write_floor(p, job.name.str(), job.bytes));
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 16; ++t)
    threads.emplace_back([&, t] {
      for (std::size_t i = t; i < fds.size(); i += 16) must(::fsync(fds[i]) == 0, "fsync");
    });
  for (auto& t : threads) t.join();
  for (const int fd : fds) ::close(fd);
  for (const auto& job : jobs) rename_floor(p, job.name.str());
  must(::fsync(p.fresh_fd) == 0, "fsync");
}
inbox::DropBox drop_box(const Pair& p) {
  auto tmp = sys::Dir::open(p.tmp);
  auto fresh = sys::Dir::open(p.fresh);
  must(tmp && fresh, "open");
  return {std::move(*tmp), std::move(*fresh)};
}
double rate(int writers, int jobs, const std::function<void(int)>& work) {
  const auto begin = Steady::now();
  std::vector<std::thread> threads;
  for (int w = 1; w < writers; ++w) threads.emplace_back(work, w);
  work(0);
  for (auto& t : threads) t.join();
  return jobs / seconds_since(begin);
}
// Floor and product take turns within the round, in short blocks, so that a noisy neighbour hits both.
void handoff(const std::string& dir, int writers, int jobs) {
  const Pair floor = make_pair_of_dirs(dir + "-floor");
  const Pair ours = make_pair_of_dirs(dir + "-product");
  const inbox::DropBox box = drop_box(ours);
  const int blocks = 10;
  const int each = std::max(1, jobs / blocks / writers);
  std::vector<double> floors, products;
  for (int b = 0; b < blocks; ++b) {
    const auto run_floor = [&] {
      floors.push_back(rate(writers, each * writers, [&](int) {
        for (int i = 0; i < each; ++i) floor_handoff(floor, parcel());
      }));
    };
    const auto run_ours = [&] {
      products.push_back(rate(writers, each * writers, [&](int) {
        for (int i = 0; i < each; ++i) must(inbox::hand_over(box, parcel()).has_value(), "hand_over");
      }));
    };
    if (b % 2 == 0)
      run_floor(), run_ours();
    else
      run_ours(), run_floor();
  }
  print("floor", median(floors));
  print("product", median(products));
}
void handoff_batch(const std::string& dir, int batch, int jobs) {
  const Pair floor = make_pair_of_dirs(dir + "-floor");
  const Pair ours = make_pair_of_dirs(dir + "-product");
  const inbox::DropBox box = drop_box(ours);
  std::vector<double> floors, products;
  for (int done = 0; done < jobs; done += batch) {
    std::vector<inbox::Parcel> a, b;
    for (int i = 0; i < batch; ++i) a.push_back(parcel()), b.push_back(parcel());
    const auto run_floor = [&] { floors.push_back(rate(1, batch, [&](int) { floor_batch(floor, a); })); };
    const auto run_ours = [&] {
      products.push_back(rate(1, batch, [&](int) {
        for (const auto& r : inbox::hand_over_batch(box, b, 16)) must(r.has_value(), "hand_over_batch");
      }));
    };
    if ((done / batch) % 2 == 0)
      run_floor(), run_ours();
    else
      run_ours(), run_floor();
  }
  print("floor", median(floors));
  print("product", median(products));
}

// ---- bare libcurl ----

std::string note_name(int i) { return "/app/vault/f" + std::to_string(i % 100) + "/note " + std::to_string(i) + ".md"; }
std::string note_body(int i) {
  return "{\"content\":\"# Note " + std::to_string(i) + "\\n" + std::string(500, 'x') + "\\n\",\"path\":\"" +
         note_name(i) + "\"}";
}

class Bare {
 public:
  Bare(std::string url, const std::string& credential_file) : url_(std::move(url)) {
    std::ifstream file(credential_file);
    std::string token;
    file >> token;
    headers_ = curl_slist_append(headers_, ("Authorization: Bearer " + token).c_str());
    headers_ = curl_slist_append(headers_, "Content-Type: application/json");
    headers_ = curl_slist_append(headers_, "Expect:");
  }
  ~Bare() { curl_slist_free_all(headers_); }
  Bare(const Bare&) = delete;
  Bare& operator=(const Bare&) = delete;

  // POST and then GET of each note, `in_flight` notes at a time, on one multi handle.
  double run(int in_flight, int first, int count) {
    CURLM* multi = curl_multi_init();
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, static_cast<long>(in_flight));
    int next = first, done = 0;
    std::vector<std::unique_ptr<Slot>> slots;
    const auto begin = Steady::now();
    for (int i = 0; i < in_flight && next < first + count; ++i) {
      slots.push_back(std::make_unique<Slot>());
      slots.back()->easy = curl_easy_init();
      start(multi, *slots.back(), next++);
    }
    while (done < count) {
      int running = 0;
      curl_multi_perform(multi, &running);
      int left = 0;
      while (CURLMsg* msg = curl_multi_info_read(multi, &left)) {
        char* pointer = nullptr;
        curl_easy_getinfo(msg->easy_handle, CURLINFO_PRIVATE, &pointer);
        Slot& slot = *reinterpret_cast<Slot*>(pointer);  // NOLINT(*-reinterpret-cast): libcurl's private pointer
        long status = 0;
        curl_easy_getinfo(slot.easy, CURLINFO_RESPONSE_CODE, &status);
        must(msg->data.result == CURLE_OK && status == 200, "http");
        curl_multi_remove_handle(multi, slot.easy);
        if (!slot.reading) {
          read(multi, slot);
        } else {
          ++done;
          if (next < first + count) start(multi, slot, next++);
        }
      }
      if (done < count) curl_multi_poll(multi, nullptr, 0, 1000, nullptr);
    }
    const double took = seconds_since(begin);
    for (auto& slot : slots) curl_easy_cleanup(slot->easy);
    curl_multi_cleanup(multi);
    return took;
  }

 private:
  struct Slot {
    CURL* easy = nullptr;
    int note = 0;
    bool reading = false;
    std::string body;
  };
  static std::size_t drop(char*, std::size_t size, std::size_t count, void*) { return size * count; }
  void common(Slot& slot) {
    curl_easy_reset(slot.easy);
    curl_easy_setopt(slot.easy, CURLOPT_PRIVATE, &slot);
    curl_easy_setopt(slot.easy, CURLOPT_WRITEFUNCTION, &drop);
    curl_easy_setopt(slot.easy, CURLOPT_HTTPHEADER, headers_);
    curl_easy_setopt(slot.easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(slot.easy, CURLOPT_PROXY, "");
  }
  void start(CURLM* multi, Slot& slot, int note) {
    slot.note = note;
    slot.reading = false;
    slot.body = note_body(note);
    common(slot);
    curl_easy_setopt(slot.easy, CURLOPT_URL, (url_ + "/api/vault/save").c_str());
    curl_easy_setopt(slot.easy, CURLOPT_POSTFIELDS, slot.body.c_str());
    curl_easy_setopt(slot.easy, CURLOPT_POSTFIELDSIZE, static_cast<long>(slot.body.size()));
    curl_multi_add_handle(multi, slot.easy);
  }
  void read(CURLM* multi, Slot& slot) {
    slot.reading = true;
    common(slot);
    std::unique_ptr<char, decltype(&curl_free)> path(curl_easy_escape(slot.easy, note_name(slot.note).c_str(), 0),
                                                     &curl_free);
    curl_easy_setopt(slot.easy, CURLOPT_URL, (url_ + "/api/vault/content?path=" + path.get()).c_str());
    curl_multi_add_handle(multi, slot.easy);
  }
  std::string url_;
  curl_slist* headers_ = nullptr;
};

// ---- one job on an idle system ----

void lone(const std::string& root, const std::string& jobs_file) {
  auto box = inbox::DropBox::open(root, model::JobKind::kSave);
  must(box.has_value(), "open inbox");
  const int watch = ::inotify_init1(IN_CLOEXEC);
  must(watch >= 0 && ::inotify_add_watch(watch, (root + "/save/receipts").c_str(), IN_MODIFY) >= 0, "inotify");
  std::vector<double> times;
  std::ifstream jobs(jobs_file);
  for (std::string line; std::getline(jobs, line);) {
    const std::size_t at = line.find("\"job_id\":\"");
    must(at != std::string::npos, "job_id");
    inbox::Parcel p{{base::SystemClock{}.wall(), *base::JobId::parse(line.substr(at + 10, 36))}, line};
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    char events[4096];
    pollfd q{watch, POLLIN, 0};
    while (::poll(&q, 1, 0) > 0) must(::read(watch, events, sizeof events) > 0, "inotify");
    const auto begin = Steady::now();
    must(inbox::hand_over(*box, p).has_value(), "hand_over");
    must(::poll(&q, 1, 5000) == 1, "no receipt within 5 s");
    times.push_back(seconds_since(begin) * 1e6);
  }
  print("product", median(times));
}

void chain(const std::string& dir, const std::string& url, const std::string& credential, int count) {
  const Pair p = make_pair_of_dirs(dir);
  const int log = ::open((dir + "/log").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  const std::string page(8192, 'l');
  Bare bare(url, credential);
  std::vector<double> times;
  for (int i = 0; i < count; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    const inbox::Parcel job = parcel();
    const auto begin = Steady::now();
    floor_handoff(p, job);
    const auto commit = [&] { must(::write(log, page.data(), page.size()) > 0 && ::fdatasync(log) == 0, "fdatasync"); };
    commit();                     // admitted and claimed
    commit();                     // attempt
    bare.run(1, 900'000 + i, 1);  // POST and read-back
    commit();                     // outcome
    times.push_back(seconds_since(begin) * 1e6);
  }
  print("floor", median(times));
}

}  // namespace

int main(int argc, char** argv) {
  base::init_crypto();
  curl_global_init(CURL_GLOBAL_DEFAULT);
  const std::vector<std::string> a(argv + 1, argv + argc);
  if (a.size() == 4 && a[0] == "handoff") {
    handoff(a[1], std::stoi(a[2]), std::stoi(a[3]));
  } else if (a.size() == 4 && a[0] == "handoff-batch") {
    handoff_batch(a[1], std::stoi(a[2]), std::stoi(a[3]));
  } else if (a.size() == 6 && a[0] == "http") {
    print("floor", std::stoi(a[5]) / Bare(a[1], a[2]).run(std::stoi(a[3]), std::stoi(a[4]), std::stoi(a[5])));
  } else if (a.size() == 3 && a[0] == "lone") {
    lone(a[1], a[2]);
  } else if (a.size() == 4 && a[0] == "confine") {
    const auto cost = bench::confine_cost(a[1], std::stoi(a[2]), std::stoi(a[3]));
    print("floor", cost.free_us);
    print("product", cost.confined_us);
  } else if (a.size() == 5 && a[0] == "chain") {
    chain(a[1], a[2], a[3], std::stoi(a[4]));
  } else {
    std::fprintf(stderr, "usage: see the head of tests/bench/bench.cc\n");
    return 2;
  }
  return 0;
}
