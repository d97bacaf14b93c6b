#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "aasm/verifier/verifier.h"

// Everything `aasm verify` can find: the closed list of codes, each with its weight and with what
// it means for the reader. docs/spec/verify-findings.md is made from this table; a test holds the
// two together. The codes of contradictions and open questions are those of verifier/claims.
namespace aasm::verifier {

enum class FindingCode : std::uint8_t {
  // The target as a file.
  kTargetNotFound,
  kTargetNotRegular,
  kTargetUnreadable,
  kTargetTooLarge,
  kTargetNotRecognised,
  kBusy,
  kSuperJournal,
  kScratchUnusable,
  // The database.
  kSchemaNewer,
  kSchemaDifferent,
  kDatabaseCorrupt,
  kDatabaseUnreadable,
  kLimitReached,
  // Trust and keys.
  kOriginNotPinned,
  kForeignLedger,
  kLogNotPinned,
  kRootMismatch,
  kLogKeyMismatch,
  kCertificateBad,
  kKeyRevoked,
  kKeyRevokedBeforeLimit,
  kKeyUnresolved,
  kSignerAfterSkippedKey,
  kKeyChangeBad,
  kKeyChangeStale,
  kKeyReused,
  kRevocationBad,
  kRevokedKeyUnknown,
  // Single records.
  kEmptyLedger,
  kGenesisMissing,
  kGenesisRepeated,
  kSequenceGap,
  kRowMalformed,
  kPayloadMalformed,
  kPayloadMalformedJson,
  kPayloadNoncanonical,
  kSubjectMismatch,
  kBodyMalformed,
  kSequenceMismatch,
  kOriginMismatch,
  kPrevMismatch,
  kEnvelopePrevMismatch,
  kLeafMismatch,
  kKeyMismatch,
  kWrongSigner,
  kBadSignature,
  kRecordSkipped,
  // Runs.
  kRunNotOpened,
  kRunReopened,
  kRecordAfterClose,
  kStartRepeated,
  kRunKeyUnacceptable,
  kRecordsCountMismatch,
  kRecoveryDiffers,
  kEmbeddedCheckpointUnknown,
  kProbeReferenceDangling,
  kRunUnfinished,
  kRunUnfinishedExcluded,
  kRunInterrupted,
  kRunNotFound,
  kRunAmbiguous,
  kClockStep,
  // Blobs.
  kBlobMalformed,
  kBlobDigest,
  kBlobUnnamed,
  kBlobWithheld,
  kPolicyDocumentDiffers,
  // Checkpoints and anchors.
  kCheckpointMalformed,
  kCheckpointOrigin,
  kCheckpointSizeMismatch,
  kCheckpointRoot,
  kCheckpointFrontier,
  kCheckpointUnsigned,
  kCheckpointBadSignature,
  kCheckpointBeyondRecords,
  kCheckpointCadence,
  kTailUnsigned,
  kTailOfOpenRuns,
  kWitnessQuorumNotMet,
  kWitnessBadSignature,
  kAnchorMalformed,
  kAnchorNotEvaluated,
  // Notes held elsewhere: the head file, --state, --expect-head.
  kReferenceUnreadable,
  kReferenceOtherOrigin,
  kReferenceNotSigned,
  kReferenceBadSignature,
  kReferenceNotComparable,
  kRolledBack,
  kForked,
  // Receipts.
  kReceiptMalformed,
  kReceiptRecordMissing,
  kReceiptRecordUnexpected,
  kReceiptIndexMismatch,
  kReceiptNotIncluded,
  // A report given with --report.
  kReportDiffers,
  kReportUnreadable,
  kReportNotRecomputed,
  // Contradictions that the claims rules find in one run (verifier/claims).
  kStartedDespiteUnmetRequirement,
  kStartedDespiteRefusal,
  kStartedAfterFailedStep,
  kSetupRecordMissing,
  kSetupAfterStart,
  kControlAfterStart,
  kPartMissing,
  kRecordRepeated,
  kOutcomeContradictsPolicy,
  kPlanDigestDiffers,
  kProbeReferenceDiffers,
  kCanarySucceededInside,
  kStartedDigestNotPrepared,
  kActivityBeforeStart,
  kAllowedByDenyRule,
  kAllowedByUnknownRule,
  kAllowedOutsideRule,
  kEventNumbersNotContiguous,
  kEventTotalsDiffer,
  kClosingDiffers,
  kRecordOfAnotherBoot,
  kSignerNotAccepted,
  kProbeMissing,
  kControlRepeated,
  kCanaryRepeated,
  kEnforcedWithoutControl,
  kDeniedWithoutBoundary,
  kDeniedAgainstPolicy,
  kDeniedWhileObserving,
  kDeniedWithoutErrno,
  kEventCountOverflow,
  kExitCauseDiffers,
  kOutcomeExceedsProbe,
  kDegradedExceedsProbe,
  kBackendWasUnavailable,
  kIsolationClassDiffers,
  kInventoryDiffers,
  // Open questions of the claims rules.
  kRunOpenedMissing,
  kClaimsRulesUnknown,
  kProbeReferenceNotSupplied,
  kObjectCoverageUndecided,
  kWitnessDisagrees,
  // Ourselves.
  kInternalError,
};

struct FindingSpec {
  FindingCode code;
  std::string_view token;
  Weight weight;
  std::string_view meaning;  // one sentence
};

inline constexpr std::size_t kNumFindingCodes = 140;
extern const std::array<FindingSpec, kNumFindingCodes> kFindingSpecs;  // in the order of the enum

const FindingSpec& spec_of(FindingCode code);
std::optional<FindingCode> find_code(std::string_view token);

// "fails", "unreadable", "inconclusive", "notice".
std::string_view to_string(Weight weight);

}  // namespace aasm::verifier
