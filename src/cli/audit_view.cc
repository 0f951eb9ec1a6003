#include "cli/audit_view.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/escape.h"
#include "cli/job_view.h"
#include "cli/json_line.h"
#include "cli/words.h"

namespace intray::cli {
namespace {

using Json = nlohmann::json;

template <class T>
Json str_or_null(const std::optional<T>& value) {
  return value ? Json(value->str()) : Json(nullptr);
}
template <class T>
Json word_or_null(const std::optional<T>& value) {
  return value ? Json(model::to_word(*value)) : Json(nullptr);
}
template <class T>
Json number_or_null(const std::optional<T>& value) {
  return value ? Json(value->value) : Json(nullptr);
}
Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

}  // namespace

std::string audit_text(const ledger::AuditRow& row) {
  std::string out;
  const auto part = [&](const std::string& text) { out += (out.empty() ? "" : ", ") + text; };
  if (row.from_state && row.to_state && *row.from_state != *row.to_state) {
    out = fmt::format("{} → {}", model::to_word(*row.from_state), model::to_word(*row.to_state));
  } else if (row.to_state) {
    out = std::string(model::to_word(*row.to_state));
  }
  if (!row.row.empty()) out += fmt::format("{}({})", out.empty() ? "" : " ", row.row);
  if (row.result) part(std::string(model::to_word(*row.result)));
  if (row.reason) part(std::string(model::to_word(*row.reason)));
  if (row.attempt) part("attempt " + short_id(row.attempt->str()));
  if (row.worker_id) part("worker " + short_id(row.worker_id->str()));
  if (row.epoch) part("epoch " + std::to_string(row.epoch->value));
  if (row.fence) part("fence " + std::to_string(row.fence->value));
  if (!row.actor.empty()) part("by " + base::escape(row.actor));
  if (!row.detail.empty()) out += (out.empty() ? "" : ": ") + row.detail;
  return out;
}

Colour colour_of(const ledger::AuditRow& row) {
  if (row.event == "TRANSITION_REFUSED") return Colour::kRed;
  return row.to_state ? colour_of(*row.to_state) : Colour::kNone;
}

Json audit_json(const ledger::AuditRow& row) {
  return {{"seq", row.seq.value},
          {"at", base::format_rfc3339(row.at)},
          {"event", row.event},
          {"job_id", str_or_null(row.job_id)},
          {"mission_id", str_or_null(row.mission_id)},
          {"job_type", text_or_null(row.job_type)},
          {"object_id", text_or_null(row.object_id)},
          {"from_state", word_or_null(row.from_state)},
          {"to_state", word_or_null(row.to_state)},
          {"row", text_or_null(row.row)},
          {"worker_id", str_or_null(row.worker_id)},
          {"claim_id", str_or_null(row.claim_id)},
          {"attempt", str_or_null(row.attempt)},
          {"epoch", number_or_null(row.epoch)},
          {"fence", number_or_null(row.fence)},
          {"reason", word_or_null(row.reason)},
          {"result", word_or_null(row.result)},
          {"approval_id", str_or_null(row.approval_id)},
          {"provenance_hash", row.provenance_hash ? Json(row.provenance_hash->hex()) : Json(nullptr)},
          {"actor", text_or_null(row.actor)},
          {"detail", text_or_null(row.detail)},
          {"prev_hash", row.prev_hash.hex()},
          {"hash", row.hash.hex()}};
}

}  // namespace intray::cli
