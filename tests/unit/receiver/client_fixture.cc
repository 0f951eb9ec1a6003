#include "client_fixture.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/hash.h"
#include "sys/process.h"

namespace intray::test {

using namespace std::chrono_literals;

std::string connector_program() {
  const char* const path = std::getenv("INTRAY_CONNECTOR");
  if (path == nullptr) FAIL("INTRAY_CONNECTOR must name the intray-connector program");
  return path;
}

TempDir::TempDir() {
  const char* const base = std::getenv("TMPDIR");
  path = std::string(base != nullptr ? base : "/tmp") + "/intray-receiver-XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) FAIL("no temporary directory");
}

TempDir::~TempDir() {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

std::string write_file(const TempDir& dir, const std::string& name, const std::string& text, unsigned mode) {
  const std::string path = dir.path + "/" + name;
  std::ofstream(path, std::ios::binary) << text;
  REQUIRE(::chmod(path.c_str(), mode) == 0);
  return path;
}

ClientFixture::ClientFixture(const FixtureOptions& options)
    : coordinator([this] { return ++lease_looks, lease_stands; }, clock) {
  base::init_crypto();
  const TempDir dir;
  auto credential =
      receiver::Credential::load(write_file(dir, "credential", std::string(kSecret) + "\n", 0400), ::geteuid());
  REQUIRE(credential);
  auto made_loop = sys::EventLoop::create();
  REQUIRE(made_loop);
  loop = std::move(*made_loop);
  auto channel = sys::make_channel();
  REQUIRE(channel);
  std::vector<std::string> arguments{"--address", options.address, "--connect-timeout-ms",
                                     std::to_string(options.connect_timeout.count() / 1000)};
  arguments.insert(arguments.end(), options.connector_options.begin(), options.connector_options.end());
  auto pid = sys::spawn(connector_program(), arguments, std::move(channel->theirs));
  REQUIRE(pid);
  connector_pid_ = *pid;
  receiver::PoolOptions pool_options;
  pool_options.peer_address = options.address;
  pool_options.ready_age_max = options.idle_reuse;
  auto made_pool = receiver::DescriptorPool::create(std::move(channel->ours), pool_options, *loop, clock);
  REQUIRE(made_pool);
  pool = std::move(*made_pool);
  pool->on_broken([this](const std::string&) { ++broken; });
  pool->on_answer([this](bool connected) { dialled += connected ? 1 : 0; });
  receiver::Options client_options;
  client_options.url = options.url.empty() ? "http://" + options.address : options.url;
  client_options.ca_pem = options.ca_pem;
  client_options.connect_timeout = options.connect_timeout;
  client_options.total_timeout = options.total_timeout;
  client_options.low_speed_bytes = options.low_speed_bytes;
  client_options.low_speed_window = options.low_speed_window;
  client_options.idle_reuse = options.idle_reuse;
  client_options.content_bytes_max = options.content_bytes_max;
  client_options.in_flight_max = options.in_flight_max;
  auto made_client = receiver::Client::create(client_options, *credential, *pool, *loop, clock);
  if (!made_client) FAIL(made_client.error().what);
  client = std::move(*made_client);
}

ClientFixture::~ClientFixture() {
  client.reset();
  pool.reset();  // closes the channel, which ends the connector
  ::waitpid(connector_pid_, nullptr, 0);
}

receiver::SaveRequest ClientFixture::request(std::string path, std::string content) const {
  return {.vault_path = std::move(path),
          .content = std::move(content),
          .idempotency_key = kIdempotencyKey,
          .fence = kFence};
}

std::size_t ClientFixture::start_save(receiver::SaveRequest request) {
  return start_save(std::move(request), coordinator.mint(base::AttemptId::generate()));
}

std::size_t ClientFixture::start_save(receiver::SaveRequest request, model::Grant grant) {
  const std::size_t index = results.size();
  results.emplace_back();
  client->save(std::move(grant), std::move(request), [this, index](receiver::MutationResult result) {
    REQUIRE_FALSE(results[index].has_value());  // once
    results[index] = std::move(result);
  });
  REQUIRE_FALSE(results[index].has_value());  // never from inside save()
  return index;
}

void ClientFixture::finish() {
  const auto give_up = clock.boot() + 15s;
  while (client->in_flight() > 0) {
    REQUIRE(loop->run_once(100ms));
    if (clock.boot() > give_up) FAIL("requests without a result");
  }
  for (const auto& result : results) REQUIRE(result.has_value());
}

receiver::MutationResult ClientFixture::save(receiver::SaveRequest request) {
  const std::size_t index = start_save(std::move(request));
  finish();
  return *results[index];
}

receiver::ReadResult ClientFixture::read(const std::string& path) {
  std::optional<receiver::ReadResult> out;
  client->read(path, [&out](receiver::ReadResult result) { out = std::move(result); });
  REQUIRE_FALSE(out.has_value());
  finish();
  REQUIRE(out.has_value());
  return *out;
}

void ClientFixture::kill_connector() { ::kill(connector_pid_, SIGKILL); }

void ClientFixture::run_for(std::chrono::milliseconds time) {
  const auto until = clock.boot() + time;
  while (clock.boot() < until) REQUIRE(loop->run_once(std::chrono::duration_cast<base::Micros>(until - clock.boot())));
}

}  // namespace intray::test
