#include "payload_faults.h"

namespace aasm::verifier {

using ledger_format::EnvelopeFault;

FindingCode code_for(EnvelopeFault fault) {
  switch (fault) {
    case EnvelopeFault::kMalformedJson:
      return FindingCode::kPayloadMalformedJson;
    case EnvelopeFault::kNoncanonical:
      return FindingCode::kPayloadNoncanonical;
    case EnvelopeFault::kSubjectMismatch:
      return FindingCode::kSubjectMismatch;
    case EnvelopeFault::kTooLarge:
    case EnvelopeFault::kNotAnObject:
    case EnvelopeFault::kUnknownMember:
    case EnvelopeFault::kUnknownMemberInAasm:
    case EnvelopeFault::kMissingMember:
    case EnvelopeFault::kWrongMemberType:
    case EnvelopeFault::kBadType:
    case EnvelopeFault::kBadVersion:
    case EnvelopeFault::kBadOrigin:
    case EnvelopeFault::kBadSeq:
    case EnvelopeFault::kBadPrev:
    case EnvelopeFault::kBadRun:
    case EnvelopeFault::kBadKind:
    case EnvelopeFault::kBadWall:
    case EnvelopeFault::kBadMono:
    case EnvelopeFault::kBadBoot:
    case EnvelopeFault::kBadKey:
    case EnvelopeFault::kBadPredicateType:
    case EnvelopeFault::kBadSubject:
      return FindingCode::kPayloadMalformed;
  }
  return FindingCode::kPayloadMalformed;
}

}  // namespace aasm::verifier
