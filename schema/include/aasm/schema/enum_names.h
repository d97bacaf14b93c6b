#pragma once

#include <array>
#include <cstddef>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "aasm/schema/result.h"

namespace aasm::schema {

// A closed vocabulary: every value of enum E with its one token. Specialise as
//   template <> struct EnumNames<E> {
//     static constexpr std::string_view kWhat = "domain";
//     static constexpr std::array kTokens = {std::pair{E::kA, std::string_view("a")}, ...};
//   };
// The order of kTokens is the order of the vocabulary.
template <class E>
struct EnumNames;

template <class E>
concept NamedEnum = requires {
  EnumNames<E>::kTokens;
};

template <NamedEnum E>
constexpr std::string_view token(E value) {
  for (const auto& entry : EnumNames<E>::kTokens) {
    if (entry.first == value) {
      return entry.second;
    }
  }
  std::abort();  // a value outside its vocabulary is a bug
}

// kMalformed, naming the vocabulary, for a token outside it.
template <NamedEnum E>
Result<E> parse_token(std::string_view text) {
  for (const auto& entry : EnumNames<E>::kTokens) {
    if (entry.second == text) {
      return entry.first;
    }
  }
  return Error(ErrorCode::kMalformed, std::string("not a ") + std::string(EnumNames<E>::kWhat));
}

}  // namespace aasm::schema
