#include "vault-receiver/vault_api.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/hash.h"

namespace intray::vault_receiver {
namespace {

using base::ErrorCode;
using Json = nlohmann::json;

constexpr std::string_view kBadPath = "Invalid or missing path";
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

struct Route {
  std::string_view path;
  std::string_view method;
  Kind kind;
};

constexpr auto kRoutes = std::to_array<Route>({
    {"/api/vault/save", "POST", Kind::kSave},
    {"/api/vault/delete", "POST", Kind::kDelete},
    {"/api/vault/content", "GET", Kind::kContent},
    {"/api/vault/search", "GET", Kind::kSearch},
});

Reply json_reply(const Json& body) {
  Reply reply;
  // A note that is not UTF-8 is shown with U+FFFD, as the public server does.
  reply.body = body.dump(-1, ' ', false, Json::error_handler_t::replace);
  return reply;
}

std::optional<Reply> refuse_credential(BearerCheck::Verdict verdict) {
  if (verdict == BearerCheck::Verdict::kGood) return std::nullopt;
  if (verdict == BearerCheck::Verdict::kWrong) return error_reply(403, "Forbidden");
  Reply reply = error_reply(401, "Unauthorized");
  reply.headers.emplace_back("WWW-Authenticate", "Bearer");
  return reply;
}

// A string member that is present and, for a path, not empty.
enum class Member { kGood, kMissing, kWrongType };

Member take_string(Json& object, const char* name, std::string& out) {
  const auto found = object.find(name);
  if (found == object.end()) return Member::kMissing;
  if (!found->is_string()) return Member::kWrongType;
  out = std::move(found->get_ref<std::string&>());
  return Member::kGood;
}

std::optional<Reply> read_body(Request& request, Call& call) {
  Json body = Json::parse(request.body, nullptr, false);
  std::string().swap(request.body);
  // What the public server answers when its JSON.parse or its file call throws.
  if (body.is_discarded()) return error_reply(500, "Unexpected token in JSON");
  if (!body.is_object()) return error_reply(400, "Missing path");
  const bool is_save = call.kind == Kind::kSave;
  const Member path = take_string(body, "path", call.path);
  const Member content = is_save ? take_string(body, "content", call.content) : Member::kGood;
  if (path == Member::kMissing || content == Member::kMissing || (path == Member::kGood && call.path.empty())) {
    return error_reply(400, is_save ? "Missing path or content" : "Missing path");
  }
  if (path == Member::kWrongType) return error_reply(500, "path must be a string");
  if (content == Member::kWrongType) return error_reply(500, "content must be a string");
  return std::nullopt;
}

// As a multi-byte character cut in two ends up in the public server.
std::string mangled(std::string content) {
  while (!content.empty()) {
    const auto last = static_cast<unsigned char>(content.back());
    content.pop_back();
    if ((last & 0xC0) != 0x80) break;
  }
  return content.append(kReplacement);
}

Outcome failed(const base::Error& error, std::string_view action, const std::string& path) {
  if (error.code == ErrorCode::kDenied) return {error_reply(400, kBadPath)};
  if (error.code == ErrorCode::kNotFound) {
    return {error_reply(500, "ENOENT: no such file or directory, " + std::string(action) + " '" + path + "'")};
  }
  return {error_reply(500, error.what)};
}

}  // namespace

std::optional<Reply> VaultApi::understand(Request& request, Call& call) const {
  if (bearer_) {
    if (auto refused = refuse_credential(bearer_->check(request.header("authorization")))) return refused;
  }
  const auto* const route = std::ranges::find(kRoutes, request.path, &Route::path);
  if (route == kRoutes.end()) return error_reply(404, "Not found");
  if (request.method != route->method) {
    Reply reply = error_reply(405, "Method not allowed");
    reply.headers.emplace_back("Allow", route->method);
    return reply;
  }
  call.kind = route->kind;

  if (call.kind == Kind::kSearch) {
    if (!query_member(request.query, "query", call.query)) return error_reply(400, "Missing query");
    return std::nullopt;
  }
  if (call.kind == Kind::kContent) {
    if (!query_member(request.query, "path", call.path)) return error_reply(400, kBadPath);
  } else if (auto refused = read_body(request, call)) {
    return refused;
  }

  if (const std::string* header = request.header("intray-fence"); header != nullptr && call.kind != Kind::kContent) {
    call.fence = parse_fence(*header);
    if (!call.fence) return error_reply(400, "Malformed Intray-Fence");
    if (call.fence->kind != call.kind) return error_reply(400, "Intray-Fence of another kind");
  }
  auto relative = root_.relative(call.path);
  if (!relative) return error_reply(400, kBadPath);
  call.relative = std::move(*relative);
  return std::nullopt;
}

Outcome VaultApi::apply(const Call& call, bool mangle) {
  if (call.fence && !fences_.admit(*call.fence, call.path)) return {error_reply(409, "Stale fence")};
  switch (call.kind) {
    case Kind::kSave: return save(call, mangle);
    case Kind::kDelete: return remove(call);
    case Kind::kContent: return {content(call)};
    case Kind::kSearch: return {search(call)};
  }
  return {error_reply(500, "no such call")};
}

Reply VaultApi::success_reply(const Call& call) {
  switch (call.kind) {
    case Kind::kSave: return json_reply(nullptr);
    case Kind::kDelete: return json_reply(call.path);
    case Kind::kContent: return json_reply(Json{{"content", ""}});
    case Kind::kSearch: return json_reply(Json::array());
  }
  return {};
}

Outcome VaultApi::save(const Call& call, bool mangle) {
  const std::string other = mangle ? mangled(call.content) : std::string();
  const std::string& content = mangle ? other : call.content;
  if (auto saved = store_.save(call.relative, content); !saved) return failed(saved.error(), "open", call.path);
  return {success_reply(call), true, base::sha256(content).hex()};
}

Outcome VaultApi::remove(const Call& call) {
  if (auto removed = store_.remove(call.relative); !removed) return failed(removed.error(), "unlink", call.path);
  return {success_reply(call), true, {}};
}

Reply VaultApi::content(const Call& call) const {
  auto note = store_.read(call.relative);
  if (note) return json_reply(Json{{"content", std::move(*note)}});
  const ErrorCode code = note.error().code;
  if (code == ErrorCode::kNotFound || code == ErrorCode::kDenied) return error_reply(400, kBadPath);
  return error_reply(500, note.error().what);
}

Reply VaultApi::search(const Call& call) const {
  Json found = Json::array();
  for (const SearchHit& hit : store_.search(call.query)) {
    found.push_back({{"path", root_.absolute(hit.relative)}, {"title", hit.title}});
  }
  return json_reply(found);
}

}  // namespace intray::vault_receiver
