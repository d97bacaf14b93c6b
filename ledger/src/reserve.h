#pragma once

#include <cstdint>
#include <string>

#include "aasm/schema/result.h"

// Space kept for the last records of a run (docs/spec/ledger-format.md rule 4.8): a file beside the
// ledger whose blocks are allocated, removed when the disk is full.
namespace aasm::ledger {

inline constexpr std::int64_t kReserveBytes = std::int64_t{4} << 20U;

// Makes the file, or makes it whole again. kResourceExhausted when the disk has no room for it:
// then it has none for a run either.
schema::Result<void> ensure_reserve(const std::string& ledger);

// Gives the space back to the disk. False when there was none.
bool free_reserve(const std::string& ledger);

// Whether `error` came from a disk or quota that is full.
bool is_disk_full(const schema::Error& error);

}  // namespace aasm::ledger
