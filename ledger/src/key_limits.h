#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "aasm/ledger/key_change.h"
#include "aasm/schema/result.h"

#include "key_history.h"
#include "ledger_db.h"

// How long each key of a ledger counts, and whether a revocation has closed the ledger.
namespace aasm::ledger {

// The keys of `history` in order, none marked as held.
std::vector<LedgerKey> keys_of(const KeyHistory& history);

// The tree size from which a retired key signs nothing any more. The old host key signs the
// key.rotated that ends it, at its own place.
std::uint64_t retired_limit(const KeyHistory& history, const LedgerKey& key);

// The first thing from `limit` on and before `end` that `key` signed: a record, or a checkpoint's
// last record.
schema::Result<std::optional<std::uint64_t>> signed_after(LedgerDb& db, const LedgerKey& key,
                                                          std::uint64_t limit, std::uint64_t end);

// kIntegrity when a key signed past the limit of its revocation: such a ledger fails verification
// for good, and nothing is appended to it any more.
schema::Result<void> check_not_closed(LedgerDb& db, const KeyHistory& history);

}  // namespace aasm::ledger
