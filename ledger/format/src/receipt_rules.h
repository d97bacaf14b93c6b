#pragma once

#include <string_view>

#include "aasm/ledger_format/receipt.h"

namespace aasm::ledger_format::detail {

inline constexpr std::string_view kReceiptHeader = "c2sp.org/tlog-proof@v1";

// What a receipt must be whichever way it came: number and order of records, lengths of paths,
// the proof's own record among them, a checkpoint that parses. `code` is that of a violation.
schema::Result<void> check_receipt(const Receipt& receipt, schema::ErrorCode code);

}  // namespace aasm::ledger_format::detail
