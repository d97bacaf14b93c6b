#pragma once

#include <string>
#include <utility>
#include <variant>

#include "aasm/verifier/findings.h"

#include "finding_log.h"

namespace aasm::verifier {

// Why a step could not be done: the finding it becomes. A step returns Step<T>; what stops it is a
// verdict on the target, not an Error of ours.
struct Fault {
  FindingCode code = FindingCode::kInternalError;
  std::string detail;
};

template <class T>
class Step {
 public:
  // NOLINTBEGIN(google-explicit-constructor): both convert on purpose, like schema::Result.
  Step(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Step(Fault fault) : state_(std::in_place_index<1>, std::move(fault)) {}
  // NOLINTEND(google-explicit-constructor)

  // The value, or nullptr when there is a fault.
  T* value() { return std::get_if<0>(&state_); }
  // The fault, or nullptr.
  const Fault* fault() const { return std::get_if<1>(&state_); }

 private:
  std::variant<T, Fault> state_;
};

inline void add_fault(FindingLog& findings, const Fault& fault) {
  findings.add(fault.code, -1, {.detail = fault.detail});
}

}  // namespace aasm::verifier
