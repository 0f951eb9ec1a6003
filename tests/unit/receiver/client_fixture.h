// Purpose:    a client with everything real beneath it: event loop, pool, the intray-connector program, a credential
// file. Thread use: the test's thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "lease/coordinator.h"
#include "receiver/client.h"
#include "receiver/credential.h"
#include "receiver/descriptor_pool.h"
#include "sys/event_loop.h"

namespace intray::test {

inline constexpr const char* kSecret = "s3cret-Token_0123456789";
inline constexpr const char* kIdempotencyKey = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef-0";
inline constexpr const char* kFence = "0011223344556677.save.1.42";

struct FixtureOptions {
  std::string address;  // the server's
  std::string url;      // default: http://<address>
  std::string ca_pem;
  base::Micros connect_timeout{2'000'000};
  base::Micros total_timeout{5'000'000};
  std::int64_t low_speed_bytes = 0;
  base::Micros low_speed_window{1'000'000};
  base::Micros idle_reuse{3'000'000};
  std::int64_t content_bytes_max = 1'000'000;
  int in_flight_max = 64;
  std::vector<std::string> connector_options;
};

// Path of the program under test; aborts the test run where it is not known.
std::string connector_program();

class ClientFixture {
 public:
  explicit ClientFixture(const FixtureOptions& options);
  ClientFixture(const ClientFixture&) = delete;
  ClientFixture& operator=(const ClientFixture&) = delete;
  ~ClientFixture();

  receiver::SaveRequest request(std::string path = "/app/vault/a.md", std::string content = "hello\n") const;
  // Starts it; the result appears in `results` at the index returned.
  std::size_t start_save(receiver::SaveRequest request);
  std::size_t start_save(receiver::SaveRequest request, model::Grant grant);
  // Runs the loop until everything that was started has its result, at most 15 s (then fails the test).
  void finish();
  receiver::MutationResult save(receiver::SaveRequest request);
  receiver::MutationResult save() { return save(request()); }
  receiver::ReadResult read(const std::string& path = "/app/vault/a.md");
  void kill_connector();
  // Lets time pass in the loop.
  void run_for(std::chrono::milliseconds time);

  base::SystemClock clock;
  bool lease_stands = true;
  int lease_looks = 0;
  lease::Coordinator coordinator;
  std::unique_ptr<sys::EventLoop> loop;
  std::unique_ptr<receiver::DescriptorPool> pool;
  std::unique_ptr<receiver::Client> client;
  std::vector<std::optional<receiver::MutationResult>> results;
  int broken = 0;
  int dialled = 0;  // connections that came out of the connector

 private:
  int connector_pid_ = -1;
};

// A directory that goes with it.
class TempDir {
 public:
  TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir();
  std::string path;
};
// Writes a file with exactly this mode.
std::string write_file(const TempDir& dir, const std::string& name, const std::string& text, unsigned mode);

}  // namespace intray::test
