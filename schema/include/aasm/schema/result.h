#pragma once

#include <cstdlib>
#include <optional>
#include <utility>
#include <variant>

#include "aasm/schema/error.h"

namespace aasm::schema {

// Result<T> holds a T or an Error. It is the part of std::expected<T, Error> that
// we use, under the same member names; std::expected itself needs -std=c++23 and
// does not compile with clang 14 against libstdc++ 12. Reading the side that is
// not there aborts: that is a bug, never a condition to handle.
template <typename T>
class [[nodiscard]] Result {
 public:
  // Both convert on purpose: `return value;` and `return Error(...);` read well.
  // NOLINTNEXTLINE(google-explicit-constructor)
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  T& value() & { return checked<0>(); }
  const T& value() const& { return checked<0>(); }
  T&& value() && { return std::move(checked<0>()); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Error& error() const& { return checked<1>(); }
  Error&& error() && { return std::move(checked<1>()); }

 private:
  template <std::size_t I>
  auto& checked() {
    auto* side = std::get_if<I>(&state_);
    if (side == nullptr) {
      std::abort();
    }
    return *side;
  }
  template <std::size_t I>
  const auto& checked() const {
    const auto* side = std::get_if<I>(&state_);
    if (side == nullptr) {
      std::abort();
    }
    return *side;
  }

  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  // NOLINTNEXTLINE(google-explicit-constructor)
  Result(Error error) : error_(std::move(error)) {}

  bool has_value() const { return !error_.has_value(); }
  explicit operator bool() const { return has_value(); }
  void value() && {}
  const Error& error() const& {
    if (!error_) {
      std::abort();
    }
    return *error_;
  }
  Error&& error() && {
    if (!error_) {
      std::abort();
    }
    return std::move(*error_);
  }

 private:
  std::optional<Error> error_;
};

}  // namespace aasm::schema

// Evaluates an expression of type Result<T>: yields the T, or returns the Error
// from the enclosing function. __extension__ keeps -Wpedantic quiet about the
// statement expression, which GCC and Clang both have.
#define AASM_TRY(expr)                               \
  __extension__({                                    \
    auto aasm_try_result = (expr);                   \
    if (!aasm_try_result.has_value()) [[unlikely]] { \
      return std::move(aasm_try_result).error();     \
    }                                                \
    std::move(aasm_try_result).value();              \
  })

// As AASM_TRY, adding what was being done to the message of a failure.
#define AASM_TRY_CONTEXT(expr, context)                                \
  __extension__({                                                      \
    auto aasm_try_result = (expr);                                     \
    if (!aasm_try_result.has_value()) [[unlikely]] {                   \
      return std::move(aasm_try_result).error().with_context(context); \
    }                                                                  \
    std::move(aasm_try_result).value();                                \
  })
