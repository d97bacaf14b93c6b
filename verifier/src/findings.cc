#include "aasm/verifier/findings.h"

#include <algorithm>

namespace aasm::verifier {
namespace {

using Code = FindingCode;
constexpr Weight kF = Weight::kFails;
constexpr Weight kU = Weight::kUnreadable;
constexpr Weight kI = Weight::kInconclusive;
constexpr Weight kN = Weight::kNotice;

}  // namespace

const std::array<FindingSpec, kNumFindingCodes> kFindingSpecs = {{
    {Code::kTargetNotFound, "target_not_found", kU, "There is nothing to verify at this path."},
    {Code::kTargetNotRegular, "target_not_regular", kU,
     "Only regular files are read: links, directories, pipes and devices are not followed."},
    {Code::kTargetUnreadable, "target_unreadable", kU,
     "The file could not be read, so nothing is known about it."},
    {Code::kTargetTooLarge, "target_too_large", kU,
     "The file is larger than the limit or than the space for the private copy."},
    {Code::kTargetNotRecognised, "target_not_recognised", kU,
     "The file is neither a ledger nor a receipt of this format."},
    {Code::kBusy, "busy", kU,
     "A writer changed the file during every attempt to copy it; try again."},
    {Code::kSuperJournal, "super_journal", kU,
     "The rollback journal names another file, which no ledger does; it is not replayed."},
    {Code::kScratchUnusable, "scratch_unusable", kU,
     "No private directory for the copy could be made or filled."},

    {Code::kSchemaNewer, "schema_newer", kU,
     "The ledger was written by a newer version of this program."},
    {Code::kSchemaDifferent, "schema_different", kF,
     "The database is not laid out as the format says, so its tables cannot be relied on."},
    {Code::kDatabaseCorrupt, "database_corrupt", kF,
     "The database file is damaged or was edited outside the database."},
    {Code::kDatabaseUnreadable, "database_unreadable", kU,
     "The database could not be read to its end."},
    {Code::kLimitReached, "limit_reached", kU,
     "A limit of the verifier was reached, so the rest was not judged."},

    {Code::kOriginNotPinned, "origin_not_pinned", kI,
     "UNPINNED: the keys come from the file itself, so anybody could have made it."},
    {Code::kForeignLedger, "foreign_ledger", kF,
     "The trust file given does not know this origin: it is not the ledger you asked for."},
    {Code::kLogNotPinned, "log_not_pinned", kI,
     "The trust file pins the root key of this origin but no log key."},
    {Code::kRootMismatch, "root_mismatch", kF,
     "The ledger names another root key than the one pinned for its origin."},
    {Code::kLogKeyMismatch, "log_key_mismatch", kF,
     "The ledger's log key is none of those pinned for its origin."},
    {Code::kCertificateBad, "certificate_bad", kF,
     "The root key did not certify this key, so what it signed proves nothing."},
    {Code::kKeyRevoked, "key_revoked", kF,
     "Signed at or after the position from which this key is revoked."},
    {Code::kKeyRevokedBeforeLimit, "key_revoked_before_limit", kI,
     "Signed by a key that was revoked later; nothing shows that it was not written afterwards."},
    {Code::kKeyUnresolved, "key_unresolved", kF,
     "No key is established that could have signed this, so the signature could not be checked."},
    {Code::kSignerAfterSkippedKey, "signer_after_skipped_key", kI,
     "Signed by a key that a skipped key record may have introduced."},

    {Code::kEmptyLedger, "empty_ledger", kI,
     "There are no records: an empty ledger shows nothing, not even that it was always empty."},
    {Code::kGenesisMissing, "genesis_missing", kF,
     "The file does not begin with a readable ledger.created record."},
    {Code::kGenesisRepeated, "genesis_repeated", kF, "A ledger is created only once."},
    {Code::kSequenceGap, "sequence_gap", kF, "Records were removed, or numbered wrongly."},
    {Code::kRowMalformed, "row_malformed", kF,
     "A column holds another type or length than the format says."},
    {Code::kPayloadMalformed, "payload_malformed", kF,
     "The payload is no statement of this format."},
    {Code::kPayloadMalformedJson, "payload_malformed_json", kF,
     "The payload is no JSON of the format's profile."},
    {Code::kPayloadNoncanonical, "payload_noncanonical", kF,
     "The payload is not in the one spelling that the writer makes."},
    {Code::kSubjectMismatch, "subject_mismatch", kF,
     "The statement is about another run or another ledger than it says."},
    {Code::kBodyMalformed, "body_malformed", kF, "The record's body lacks what its kind demands."},
    {Code::kSequenceMismatch, "sequence_mismatch", kF,
     "The signed sequence number is not the one the record stands at: it was moved."},
    {Code::kOriginMismatch, "origin_mismatch", kF, "The record was written for another ledger."},
    {Code::kPrevMismatch, "prev_mismatch", kF,
     "The chain is broken here: the record before this one was changed, removed or replaced."},
    {Code::kEnvelopePrevMismatch, "envelope_prev_mismatch", kF,
     "The signed link to the record before differs from the column."},
    {Code::kLeafMismatch, "leaf_mismatch", kF,
     "The stored hash is not that of the stored payload: one of them was changed."},
    {Code::kKeyMismatch, "key_mismatch", kF,
     "The key id in the column differs from the signed one."},
    {Code::kWrongSigner, "wrong_signer", kF,
     "The record names another key than the one that must sign its kind at this place."},
    {Code::kBadSignature, "bad_signature", kF,
     "The signature does not belong to this payload and key: the record was changed or forged."},
    {Code::kRecordSkipped, "record_skipped", kI,
     "This version does not know the record's kind, so it cannot say what it changes."},

    {Code::kRunNotOpened, "run_not_opened", kF,
     "The record belongs to a run that was never opened here."},
    {Code::kRunReopened, "run_reopened", kF, "A run is opened only once."},
    {Code::kRecordAfterClose, "record_after_close", kF,
     "Nothing may be added to a run that was closed or recovered."},
    {Code::kStartRepeated, "start_repeated", kF, "A run starts one program at most once."},
    {Code::kRunKeyUnacceptable, "run_key_unacceptable", kF,
     "The run's key is one that would verify forged signatures."},
    {Code::kRecordsCountMismatch, "records_count_mismatch", kF,
     "The run's closing record counts another number of records than there are."},
    {Code::kRecoveryDiffers, "recovery_differs", kF,
     "The recovery record says something else about the run than its records."},
    {Code::kEmbeddedCheckpointUnknown, "embedded_checkpoint_unknown", kF,
     "The run saw a checkpoint that this file does not hold: the file was forked or cut."},
    {Code::kProbeReferenceDangling, "probe_reference_dangling", kF,
     "The run relies on a probe record that does not stand where it says."},
    {Code::kRunUnfinished, "run_unfinished", kI,
     "The run has neither an end nor a recovery: it may be live, or its end may be cut off."},
    {Code::kRunUnfinishedExcluded, "run_unfinished_excluded", kN,
     "Unfinished, no claims: left out of the verdict as asked."},
    {Code::kRunInterrupted, "run_interrupted", kI,
     "The run's supervisor died: what the program did afterwards was not recorded."},
    {Code::kRunNotFound, "run_not_found", kI, "The file holds no such run."},
    {Code::kRunAmbiguous, "run_ambiguous", kI,
     "Several runs begin with this text; give more of the id."},
    {Code::kClockStep, "clock_step", kN,
     "The wall clock was set while a run was open; order comes from the sequence alone."},

    {Code::kBlobMalformed, "blob_malformed", kF, "A blob row is not made as the format says."},
    {Code::kBlobDigest, "blob_digest", kF,
     "The blob is not the one that the records name: it was changed."},
    {Code::kBlobUnnamed, "blob_unnamed", kF, "No record names this blob: it was added."},
    {Code::kBlobWithheld, "blob_withheld", kN,
     "A blob that a record names is not in the file; no claim needs it."},
    {Code::kPolicyDocumentDiffers, "policy_document_differs", kF,
     "The kept policy document is not the one whose digest the run recorded."},

    {Code::kCheckpointMalformed, "checkpoint_malformed", kF,
     "A checkpoint row is not made as the format says."},
    {Code::kCheckpointOrigin, "checkpoint_origin", kF, "The checkpoint belongs to another ledger."},
    {Code::kCheckpointSizeMismatch, "checkpoint_size_mismatch", kF,
     "The signed size is not that of the row."},
    {Code::kCheckpointRoot, "checkpoint_root", kF,
     "The signed root is not that of the records: they are not the ones that were signed."},
    {Code::kCheckpointFrontier, "checkpoint_frontier", kF,
     "The stored tree edge is not that of the records; a writer would go on from a wrong tree."},
    {Code::kCheckpointUnsigned, "checkpoint_unsigned", kF,
     "The checkpoint carries no signature of the ledger's log key."},
    {Code::kCheckpointBadSignature, "checkpoint_bad_signature", kF,
     "The log key's signature does not belong to this checkpoint."},
    {Code::kCheckpointBeyondRecords, "checkpoint_beyond_records", kF,
     "A checkpoint covers records that are no longer there: the end was cut off."},
    {Code::kCheckpointCadence, "checkpoint_cadence", kF,
     "A checkpoint that the writer must have made is missing."},
    {Code::kTailUnsigned, "tail_unsigned", kI,
     "No checkpoint covers the last records yet; the next writer makes one."},
    {Code::kTailOfOpenRuns, "tail_of_open_runs", kN,
     "The records without a checkpoint belong to unfinished runs, left out as asked."},
    {Code::kWitnessQuorumNotMet, "witness_quorum_not_met", kI,
     "The trust file asks for witnesses, and not enough of them signed what is to be verified."},
    {Code::kWitnessBadSignature, "witness_bad_signature", kF,
     "A signature in the name of a known witness is forged or damaged."},
    {Code::kAnchorMalformed, "anchor_malformed", kF,
     "An anchor row is not made as the format says, or belongs to no checkpoint."},
    {Code::kAnchorNotEvaluated, "anchor_not_evaluated", kN,
     "This version reads no anchor receipts; they add nothing to the verdict."},

    {Code::kReferenceUnreadable, "reference_unreadable", kU,
     "The note to compare with is no signed checkpoint."},
    {Code::kReferenceOtherOrigin, "reference_other_origin", kF,
     "The note to compare with is of another ledger: this file took that ledger's place."},
    {Code::kReferenceNotSigned, "reference_not_signed", kI,
     "The note to compare with is not signed by this ledger's log key, so it shows nothing."},
    {Code::kReferenceBadSignature, "reference_bad_signature", kF,
     "The note to compare with was changed or forged."},
    {Code::kReferenceNotComparable, "reference_not_comparable", kI,
     "A receipt of one size cannot be compared with a note of another."},
    {Code::kRolledBack, "rolled_back", kF,
     "The ledger once was longer: an older copy was put in its place, or its end was cut off."},
    {Code::kForked, "forked", kF,
     "Two different histories were signed for one ledger. Keep both notes."},

    {Code::kReceiptMalformed, "receipt_malformed", kF, "The receipt is damaged or was edited."},
    {Code::kReceiptRecordMissing, "receipt_record_missing", kF,
     "The receipt lacks a record without which it says nothing."},
    {Code::kReceiptRecordUnexpected, "receipt_record_unexpected", kF,
     "The receipt carries a record that does not belong in it."},
    {Code::kReceiptIndexMismatch, "receipt_index_mismatch", kF,
     "The proof is not for the run's last record."},
    {Code::kReceiptNotIncluded, "receipt_not_included", kF,
     "The record is not proven to stand in the signed tree."},

    {Code::kReportDiffers, "report_differs", kF,
     "The report given claims something else than the records do."},
    {Code::kReportUnreadable, "report_unreadable", kU,
     "The report given is no isolation report of this version."},
    {Code::kReportNotRecomputed, "report_not_recomputed", kI,
     "The report given could not be compared: its claims were not recomputed from this file."},

    {Code::kStartedDespiteUnmetRequirement, "started_despite_unmet_requirement", kF,
     "The program started although a required protection could not be given."},
    {Code::kStartedDespiteRefusal, "started_despite_refusal", kF,
     "The program started although the launch was refused."},
    {Code::kStartedAfterFailedStep, "started_after_failed_step", kF,
     "The program started although a step of the setup had failed."},
    {Code::kSetupRecordMissing, "setup_record_missing", kF,
     "The program started without a record that must stand before the start."},
    {Code::kSetupAfterStart, "setup_after_start", kF,
     "A setup record stands after the start: it cannot have taken effect before."},
    {Code::kControlAfterStart, "control_after_start", kF,
     "A control was recorded after the start."},
    {Code::kPartMissing, "part_missing", kF, "A part of a list is missing."},
    {Code::kRecordRepeated, "record_repeated", kF,
     "A record that a run has once stands there twice."},
    {Code::kOutcomeContradictsPolicy, "outcome_contradicts_policy", kF,
     "The plan does not answer the policy that the run recorded."},
    {Code::kPlanDigestDiffers, "plan_digest_differs", kF,
     "The plan's digest is not that of its content."},
    {Code::kProbeReferenceDiffers, "probe_reference_differs", kF,
     "The probe that the run relies on was made under other conditions."},
    {Code::kCanarySucceededInside, "canary_succeeded_inside", kF,
     "A forbidden action succeeded inside the boundary and the run went on."},
    {Code::kStartedDigestNotPrepared, "started_digest_not_prepared", kF,
     "Another program was started than the one prepared."},
    {Code::kActivityBeforeStart, "activity_before_start", kF,
     "Activity was recorded before the program started."},
    {Code::kAllowedByDenyRule, "allowed_by_deny_rule", kF,
     "An action was allowed by citing a rule that denies."},
    {Code::kAllowedByUnknownRule, "allowed_by_unknown_rule", kF,
     "An action was allowed by a rule that the policy does not have."},
    {Code::kAllowedOutsideRule, "allowed_outside_rule", kF,
     "An action was allowed that the cited rule does not cover."},
    {Code::kEventNumbersNotContiguous, "event_numbers_not_contiguous", kF,
     "Events are missing or doubled."},
    {Code::kEventTotalsDiffer, "event_totals_differ", kF,
     "The run's closing record counts other events than there are."},
    {Code::kClosingDiffers, "closing_differs", kF,
     "The run's closing record says something else than its records."},
    {Code::kRecordOfAnotherBoot, "record_of_another_boot", kF,
     "A record of the run was written after the machine had restarted."},
    {Code::kSignerNotAccepted, "signer_not_accepted", kF,
     "A record of the run does not carry the signature it needs, so it is no evidence."},

    {Code::kRunOpenedMissing, "run_opened_missing", kI,
     "The run's first record is not at hand, so nothing is claimed."},
    {Code::kClaimsRulesUnknown, "claims_rules_unknown", kI,
     "The run asks for claim rules that this version does not have."},
    {Code::kProbeReferenceNotSupplied, "probe_reference_not_supplied", kI,
     "The probe record that the run relies on was not at hand."},
    {Code::kObjectCoverageUndecided, "object_coverage_undecided", kI,
     "Whether a rule covers an allowed action could not be decided."},

    {Code::kInternalError, "internal_error", kU,
     "A fault of the verifier itself; please report it."},
}};

const FindingSpec& spec_of(FindingCode code) {
  return kFindingSpecs[static_cast<std::size_t>(code)];
}

std::optional<FindingCode> find_code(std::string_view token) {
  const auto row = std::find_if(kFindingSpecs.begin(), kFindingSpecs.end(),
                                [token](const FindingSpec& spec) { return spec.token == token; });
  if (row == kFindingSpecs.end()) {
    return std::nullopt;
  }
  return row->code;
}

std::string_view to_string(Weight weight) {
  switch (weight) {
    case Weight::kFails:
      return "fails";
    case Weight::kUnreadable:
      return "unreadable";
    case Weight::kInconclusive:
      return "inconclusive";
    case Weight::kNotice:
      return "notice";
  }
  return "fails";  // a value outside the enum: the strictest
}

}  // namespace aasm::verifier
