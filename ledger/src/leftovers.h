#pragma once

#include <string>

namespace aasm::ledger {

// Removes what a process that was killed left of making `path`: files and directories beside it
// that are named `<path>.new-<16 hex>`, with SQLite's companions. The caller sees to it that nobody
// is making `path` meanwhile. What cannot be removed stays: nothing reads it.
void remove_leftovers(const std::string& path);

}  // namespace aasm::ledger
