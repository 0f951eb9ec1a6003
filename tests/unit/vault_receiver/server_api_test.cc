// The API of the running program: exact answers, path checks, credential, fence, log.
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "base/hash.h"
#include "receiver_process.h"

namespace intray::vault_receiver {
namespace {

namespace fs = std::filesystem;

const std::string kNote = "/app/vault/notes/a b.md";

std::string error_body(const std::string& text) { return nlohmann::json{{"error", text}}.dump(); }

TEST_CASE("api: save, content, search and delete answer as the public server does") {
  const Receiver receiver;
  static constexpr char kContent[] = "# T\xC3\xA4 \xF0\x9F\x98\x80\r\n\"\\\0\x01 tail";
  const std::string content(kContent, sizeof(kContent) - 1);  // the NUL in the middle too
  Client client(receiver.port());

  client.send(save(kNote, content));
  const Answer saved = client.receive();
  CHECK(saved.status == 200);
  CHECK(saved.body == "null");
  CHECK(saved.headers.at("Content-Type") == "application/json");
  CHECK(saved.headers.at("Content-Length") == "4");
  CHECK(saved.headers.at("Connection") == "keep-alive");
  CHECK(saved.headers.at("Keep-Alive") == "timeout=5");
  CHECK(read_file(receiver.dir() + "/notes/a b.md") == content);

  client.send(read(kNote));
  const Answer note = client.receive();
  CHECK(note.status == 200);
  CHECK(nlohmann::json::parse(note.body) == nlohmann::json{{"content", content}});

  client.send(get("/api/vault/search?query=TAIL"));
  const Answer found = client.receive();
  CHECK(found.status == 200);
  CHECK(nlohmann::json::parse(found.body)[0]["path"] == kNote);
  CHECK(nlohmann::json::parse(found.body)[0]["title"] == "T\xC3\xA4 \xF0\x9F\x98\x80");

  client.send(remove(kNote));
  const Answer removed = client.receive();
  CHECK(removed.status == 200);
  CHECK(removed.body == "\"" + kNote + "\"");
  CHECK_FALSE(fs::exists(receiver.dir() + "/notes/a b.md"));

  client.send(remove(kNote));
  const Answer again = client.receive();
  CHECK(again.status == 500);
  CHECK(again.body == error_body("ENOENT: no such file or directory, unlink '" + kNote + "'"));

  client.send(read(kNote));
  const Answer gone = client.receive();
  CHECK(gone.status == 400);
  CHECK(gone.body == error_body("Invalid or missing path"));
}

TEST_CASE("api: requests that are not right get the right refusal, and change nothing") {
  const Receiver receiver;
  const auto [request, status, body] = GENERATE(table<std::string, int, std::string>({
      {post("/api/vault/save", R"({"path":"/app/vault/a"})"), 400, error_body("Missing path or content")},
      {post("/api/vault/save", R"({"content":"x"})"), 400, error_body("Missing path or content")},
      {post("/api/vault/save", R"({"content":"x","path":""})"), 400, error_body("Missing path or content")},
      {post("/api/vault/save", "[]"), 400, error_body("Missing path")},
      {post("/api/vault/save", ""), 500, error_body("Unexpected token in JSON")},
      {post("/api/vault/save", R"({"content":"x","path":"/app/vault/a")"), 500, error_body("Unexpected token in JSON")},
      {post("/api/vault/save", "{\"content\":\"\xFF\",\"path\":\"/app/vault/a\"}"), 500,
       error_body("Unexpected token in JSON")},
      {post("/api/vault/save", R"({"content":5,"path":"/app/vault/a"})"), 500, error_body("content must be a string")},
      {post("/api/vault/save", R"({"content":null,"path":"/app/vault/a"})"), 500,
       error_body("content must be a string")},
      {post("/api/vault/save", R"({"content":"x","path":["/app/vault/a"]})"), 500, error_body("path must be a string")},
      {post("/api/vault/delete", "{}"), 400, error_body("Missing path")},
      {get("/api/vault/content"), 400, error_body("Invalid or missing path")},
      {get("/api/vault/content?path=%2"), 400, error_body("Invalid or missing path")},
      {get("/api/vault/search"), 400, error_body("Missing query")},
      {get("/api/vault/search?query="), 200, "[]"},
      {get("/"), 404, error_body("Not found")},
      {get("/api/vault/save/"), 404, error_body("Not found")},
      {get("/api/vault/%73ave"), 404, error_body("Not found")},
      {get("/api/vault/save"), 405, error_body("Method not allowed")},
      {get("/api/vault/delete"), 405, error_body("Method not allowed")},
      {post("/api/vault/content?path=/app/vault/a", ""), 405, error_body("Method not allowed")},
      {"DELETE /api/vault/delete HTTP/1.1\r\nHost: v\r\n\r\n", 405, error_body("Method not allowed")},
  }));
  CAPTURE(request);
  const Answer answer = call(receiver, request);
  CHECK(answer.status == status);
  CHECK(answer.body == body);
  CHECK(answer.headers.at("Content-Type") == "application/json");
  CHECK(receiver.log("applied").empty());
  CHECK(receiver.events(1) == "received answered");
}

TEST_CASE("api: a path that is not plain and inside is refused by every call") {
  const Receiver receiver;
  const std::string outside = receiver.path("outside");
  fs::create_directory(outside);
  std::ofstream(outside + "/secret.md") << "secret";
  fs::create_directory_symlink(outside, receiver.dir() + "/out");
  fs::create_symlink(outside + "/secret.md", receiver.dir() + "/leaf.md");
  for (const std::string& path :
       {std::string("/app/vault/../outside/secret.md"), std::string("/app/vault/./a.md"), std::string("/app/vault//a"),
        std::string("/app/vault"), std::string("/app/vault/"), std::string("a.md"), std::string("/etc/passwd"),
        std::string("/app/vault/.vault-receiver-tmp/1"), std::string("/app/vault/a\0b", 14),
        std::string("/app/vault/out/secret.md"), outside + "/secret.md"}) {
    CAPTURE(path);
    for (const std::string& request : {save(path, "x"), remove(path), read(path)}) {
      const Answer answer = call(receiver, request);
      CHECK(answer.status == 400);
      CHECK(answer.body == error_body("Invalid or missing path"));
    }
  }
  CHECK(call(receiver, read("/app/vault/leaf.md")).status == 400);
  CHECK(call(receiver, read("/app/vault/out")).status == 400);
  CHECK(read_file(outside + "/secret.md") == "secret");
  CHECK(receiver.log("applied").empty());
}

TEST_CASE("api: another vault root is used for requests and answers") {
  const Receiver receiver({"--vault-root", "/srv/v"});
  CHECK(call(receiver, save("/app/vault/a.md", "x")).status == 400);
  CHECK(call(receiver, save("/srv/v/a.md", "x")).status == 200);
  CHECK(call(receiver, get("/api/vault/search?query=a.md")).body == R"([{"path":"/srv/v/a.md","title":"a"}])");
}

TEST_CASE("api: without the credential nothing happens, and it is in no log") {
  const TempVault temp;
  const std::string token = "s3cr3t-Token.0123456789";
  std::ofstream(temp.path() + "/token") << token << '\n';
  const Receiver receiver({"--credential-file", temp.path() + "/token"});
  const Answer missing = call(receiver, save(kNote, "x"));
  CHECK(missing.status == 401);
  CHECK(missing.headers.at("WWW-Authenticate") == "Bearer");
  CHECK(call(receiver, save(kNote, "x", "Authorization: Basic " + token + "\r\n")).status == 401);
  CHECK(call(receiver, save(kNote, "x", "Authorization: Bearer " + token + "x\r\n")).status == 403);
  CHECK(call(receiver, get("/no/such", "Authorization: Bearer wrong\r\n")).status == 403);
  CHECK(call(receiver, read(kNote)).status == 401);
  CHECK(receiver.log("applied").empty());
  CHECK(call(receiver, save(kNote, "x", "Authorization: Bearer " + token + "\r\n")).status == 200);
  CHECK(receiver.log("applied").size() == 1);
  CHECK(read_file(receiver.log_file()).find(token) == std::string::npos);
  CHECK(read_file(receiver.log_file()).find("Bearer") == std::string::npos);
}

TEST_CASE("api: a stale fence is refused when the request would act, not when it arrives") {
  const Receiver receiver({"--fault", "save:delay=3000:count=1"});
  const auto fence = [](const std::string& text) { return "Intray-Fence: 0123456789abcdef." + text + "\r\n"; };
  Client late(receiver.port());
  late.send(save(kNote, "old holder", fence("save.1.5")));
  REQUIRE(receiver.await_events("received", 1));
  CHECK(call(receiver, save(kNote, "new holder", fence("save.1.6"))).status == 200);
  const Answer refused = late.receive();
  CHECK(refused.status == 409);
  CHECK(refused.body == error_body("Stale fence"));
  CHECK(read_file(receiver.dir() + "/notes/a b.md") == "new holder");

  CHECK(call(receiver, save(kNote, "retry", fence("save.1.6"))).status == 200);
  CHECK(call(receiver, save(kNote, "x", fence("save.0.7"))).status == 409);
  CHECK(call(receiver, save(kNote, "no fence")).status == 200);
  CHECK(call(receiver, save(kNote, "x", fence("save.1"))).status == 400);
  CHECK(call(receiver, save(kNote, "x", fence("delete.9.9"))).status == 400);
  CHECK(call(receiver, save("/app/vault/other.md", "x", fence("save.1.1"))).status == 200);
  CHECK(call(receiver, remove(kNote, fence("delete.1.1"))).status == 200);
  CHECK(receiver.log("applied").size() == 5);
}

TEST_CASE("api: the log tells what came, what was done and what was answered") {
  const Receiver receiver;
  const std::string headers =
      "X-Request-Id: attempt-1\r\nIdempotency-Key: key-0\r\nIntray-Fence: 0123456789abcdef.save.1.2\r\n"
      "Authorization: Bearer not-asked-for\r\n";
  Client client(receiver.port());
  for (int i = 0; i < 2; ++i) {
    client.send(save(kNote, "text", headers));
    CHECK(client.receive().status == 200);
  }
  CHECK(call(receiver, remove("/app/vault/none.md")).status == 500);

  const auto lines = receiver.log();
  REQUIRE(lines.size() == 8);
  const std::string hash = base::sha256("text").hex();
  for (std::size_t i = 0; i < 6; ++i) {
    const auto& line = lines[i];
    CHECK(line.at("seq") == i / 3 + 1);
    CHECK(line.at("conn") == 1);
    CHECK(line.at("event") == std::array{"received", "applied", "answered"}.at(i % 3));
    CHECK(line.at("method") == "POST");
    CHECK(line.at("target") == "/api/vault/save");
    CHECK(line.at("path") == kNote);
    CHECK(line.at("request_id") == "attempt-1");
    CHECK(line.at("idempotency_key") == "key-0");
    CHECK(line.at("fence") == "0123456789abcdef.save.1.2");
    CHECK(line.at("at").get<std::string>().size() == 27);
    CHECK(line.contains("content_sha256") == (i % 3 != 2));
    if (i % 3 != 2) CHECK(line.at("content_sha256") == hash);
    CHECK(line.contains("status") == (i % 3 == 2));
  }
  CHECK(lines[6].at("conn") == 2);
  CHECK(receiver.events(3) == "received answered");
  CHECK(lines[7].at("status") == 500);
  CHECK(read_file(receiver.log_file()).find("not-asked-for") == std::string::npos);
}

}  // namespace
}  // namespace intray::vault_receiver
