#pragma once

#include <string_view>

#include "aasm/ledger_format/envelope.h"

// What reading and building ask of an envelope's values beyond their types.
namespace aasm::ledger_format::detail {

bool is_boot_id(std::string_view text);

// Whether a record of `kind` may belong to a run, or to none. Unknown kinds may do either.
bool run_fits(std::string_view kind, bool has_run);

}  // namespace aasm::ledger_format::detail
