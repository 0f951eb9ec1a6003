// Purpose:    a row of the audit trail as text and as JSON: what log and show have in common.
// Thread use: pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli/console.h"
#include "ledger/types.h"

namespace intray::cli {

// "READY → CLAIMED (J03)  epoch 3, fence 17", without time and event.
std::string audit_text(const ledger::AuditRow& row);
Colour colour_of(const ledger::AuditRow& row);
nlohmann::json audit_json(const ledger::AuditRow& row);

}  // namespace intray::cli
