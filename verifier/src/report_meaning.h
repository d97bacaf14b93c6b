#pragma once

#include <string_view>

#include "outcome.h"

namespace aasm::verifier {

// The last sentence of a report: what a reader may conclude. A file is not blamed for what was
// given beside it to compare with.
std::string_view meaning_of(const Outcome& outcome, Verdict verdict);

// Whether the end of a ledger is missing and it may be because only its first file was copied: one
// in use keeps its newest records in a second.
bool misses_second_file(const Outcome& outcome);

}  // namespace aasm::verifier
