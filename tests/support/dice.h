#pragma once

#include <cstdint>
#include <cstdlib>
#include <random>
#include <utility>
#include <vector>

#include "aasm/schema/enum_names.h"

// Chance for property tests: the same from the same seed.
namespace aasm::test {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}
  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(engine_() % limit); }
  bool one_in(std::size_t n) { return below(n) == 0; }
  template <class E>
  E any() {
    const auto& tokens = schema::EnumNames<E>::kTokens;
    return tokens.at(below(tokens.size())).first;
  }
  template <class T>
  const T& of(const std::vector<T>& list) {
    return list.at(below(list.size()));
  }
  template <class T>
  void shuffle(std::vector<T>& list) {
    for (std::size_t i = list.size(); i > 1; --i) {
      std::swap(list[i - 1], list[below(i)]);
    }
  }

 private:
  std::mt19937_64 engine_;
};

// AASM_PROPERTY_ROUNDS, or what one test may take of everybody's time.
inline std::uint64_t property_rounds(std::uint64_t otherwise) {
  const char* asked = std::getenv("AASM_PROPERTY_ROUNDS");
  return asked != nullptr ? std::strtoull(asked, nullptr, 10) : otherwise;
}

}  // namespace aasm::test
