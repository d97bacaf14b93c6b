#include "verdict.h"

#include <algorithm>

namespace aasm::verifier {

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::kFailed:
      return "FAILED";
    case Verdict::kUnreadable:
      return "UNREADABLE";
    case Verdict::kInconclusive:
      return "INCONCLUSIVE";
    case Verdict::kVerified:
      return "VERIFIED";
  }
  return "FAILED";  // a value outside the enum: the strictest
}

bool claims_are_evidence(Verdict verdict) {
  return verdict == Verdict::kVerified || verdict == Verdict::kInconclusive;
}

int exit_status(Verdict verdict) {
  switch (verdict) {
    case Verdict::kFailed:
      return 1;
    case Verdict::kUnreadable:
      return 4;
    case Verdict::kInconclusive:
      return 3;
    case Verdict::kVerified:
      return 0;
  }
  return 1;
}

Verdict verdict_of(Weight weight) {
  switch (weight) {
    case Weight::kFails:
      return Verdict::kFailed;
    case Weight::kUnreadable:
      return Verdict::kUnreadable;
    case Weight::kInconclusive:
      return Verdict::kInconclusive;
    case Weight::kNotice:
      return Verdict::kVerified;
  }
  return Verdict::kFailed;
}

Verdict verdict_of(const FindingLog& findings) {
  Verdict verdict = Verdict::kVerified;
  for (const FindingSpec& spec : kFindingSpecs) {
    if (findings.count(spec.code) > 0) {
      verdict = std::min(verdict, verdict_of(spec.weight));
    }
  }
  return verdict;
}

}  // namespace aasm::verifier
