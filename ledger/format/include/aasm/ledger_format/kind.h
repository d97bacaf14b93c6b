#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace aasm::ledger_format {

// The record kinds of format ledger/1. A kind outside this list parses as an envelope and is
// `skipped` by the verifier.
enum class RecordKind : std::uint8_t {
  kRunOpened,
  kPolicyResolved,
  kCapabilityProbed,
  kPlanResolved,
  kPlanRefused,
  kControlPrepared,
  kBoundaryProved,
  kProcessStarted,
  kDecisionBatch,
  kObservationBatch,
  kWitnessReported,
  kProcessExited,
  kRunClosed,
  kRunRecovered,
  kLedgerCreated,
  kKeyRotated,
  kKeyReplaced,
  kKeyRevoked,
};

std::string_view to_string(RecordKind kind);  // "run.opened"
std::optional<RecordKind> parse_record_kind(std::string_view token);

// ledger.* and key.* records belong to no run: `run` is empty in their envelope.
bool is_ledger_kind(RecordKind kind);
// run.opened, run.recovered and the ledger kinds; every other kind is signed by the run's key.
bool is_signed_by_host(RecordKind kind);

// The grammar of a kind token, known or not: dot-separated words of [a-z0-9_], at least two, at
// most 64 bytes.
bool is_kind_token(std::string_view token);

// "urn:aasm:attestation:<kind>:v1"
std::string predicate_type(std::string_view kind);

}  // namespace aasm::ledger_format
