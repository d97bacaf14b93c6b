#pragma once

#include <cstddef>
#include <set>
#include <string>

namespace aasm::claims {

// Of a hostile ledger no more are kept.
inline constexpr std::size_t kMostNameAnswers = 65536;

// The addresses that a run's lookups gave for names, as note_answers() keys them.
struct NameAnswers {
  std::set<std::string> kept;
  bool unlisted = false;  // of a lookup neither name nor answers are recorded

  bool are_all() const { return !unlisted && kept.size() < kMostNameAnswers; }
};

}  // namespace aasm::claims
