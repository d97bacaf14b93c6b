#pragma once

#include <cstdint>
#include <string>

#include "measures.h"

// What appending costs beside a plain loop: the same signatures, and SQLite commits of the same
// bytes into the same tables with the same durability.
namespace aasm::bench {

struct AppendShape {
  std::string name;
  std::size_t records_a_commit = 1;
  std::size_t commits = 1;
};

struct AppendCost {
  Cost made;    // ledger::make_pending, by the caller
  Cost append;  // Store::append
  Cost plain;
  std::size_t records = 0;
};

// In a new ledger under `folder`, which it leaves there.
AppendCost measure_appends(const std::string& folder, const AppendShape& shape);

}  // namespace aasm::bench
