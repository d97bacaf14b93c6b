#pragma once

#include <cstddef>
#include <set>
#include <string>

namespace aasm::claims {

// The addresses that a run's lookups gave for names, as note_answers() keys them.
using NameAnswers = std::set<std::string>;

// Of a hostile ledger no more are kept; whether one was among the rest is then undecided.
inline constexpr std::size_t kMostNameAnswers = 65536;

}  // namespace aasm::claims
