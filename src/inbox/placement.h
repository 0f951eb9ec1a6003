// Purpose:    lease/ to cur/ or a final directory and back, under the names of inbox/names.h.
// Process:    the executor.
// Durability: none: the ledger is the truth and every start makes the directories agree with it.
#pragma once

#include <string>

#include "base/result.h"
#include "inbox/layout.h"
#include "inbox/names.h"

namespace intray::inbox {

// Moves lease/<slot>/<from> to `to`, taking .2, .3, … (up to limits::kNameCopiesMax) where the name is in use. Returns
// the name it got. kNotFound: it is not there any more.
base::Result<PlacedName> place(const sys::Dir& from_dir, const std::string& from, const sys::Dir& to, PlacedName name);

// cur/<name> back into lease/<slot>/ under a new take number.
base::Result<void> take_back(const Inbox& inbox, const PlacedName& name, base::Slot slot, const LeaseName& as);

}  // namespace intray::inbox
