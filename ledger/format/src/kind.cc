#include "aasm/ledger_format/kind.h"

#include <algorithm>
#include <array>
#include <utility>

namespace aasm::ledger_format {
namespace {

struct KindRow {
  RecordKind kind;
  std::string_view token;
};

constexpr std::array<KindRow, 18> kKinds = {{
    {RecordKind::kRunOpened, "run.opened"},
    {RecordKind::kPolicyResolved, "policy.resolved"},
    {RecordKind::kCapabilityProbed, "capability.probed"},
    {RecordKind::kPlanResolved, "plan.resolved"},
    {RecordKind::kPlanRefused, "plan.refused"},
    {RecordKind::kControlPrepared, "control.prepared"},
    {RecordKind::kBoundaryProved, "boundary.proved"},
    {RecordKind::kProcessStarted, "process.started"},
    {RecordKind::kDecisionBatch, "decision.batch"},
    {RecordKind::kObservationBatch, "observation.batch"},
    {RecordKind::kWitnessReported, "witness.reported"},
    {RecordKind::kProcessExited, "process.exited"},
    {RecordKind::kRunClosed, "run.closed"},
    {RecordKind::kRunRecovered, "run.recovered"},
    {RecordKind::kLedgerCreated, "ledger.created"},
    {RecordKind::kKeyRotated, "key.rotated"},
    {RecordKind::kKeyReplaced, "key.replaced"},
    {RecordKind::kKeyRevoked, "key.revoked"},
}};

bool is_word_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

}  // namespace

std::string_view to_string(RecordKind kind) {
  const auto row = std::find_if(kKinds.begin(), kKinds.end(), [kind](const KindRow& candidate) {
    return candidate.kind == kind;
  });
  return row == kKinds.end() ? std::string_view() : row->token;
}

std::optional<RecordKind> parse_record_kind(std::string_view token) {
  const auto row = std::find_if(kKinds.begin(), kKinds.end(), [token](const KindRow& candidate) {
    return candidate.token == token;
  });
  if (row == kKinds.end()) {
    return std::nullopt;
  }
  return row->kind;
}

bool is_ledger_kind(RecordKind kind) {
  return kind == RecordKind::kLedgerCreated || kind == RecordKind::kKeyRotated ||
         kind == RecordKind::kKeyReplaced || kind == RecordKind::kKeyRevoked;
}

bool is_signed_by_host(RecordKind kind) {
  return is_ledger_kind(kind) || kind == RecordKind::kRunOpened ||
         kind == RecordKind::kRunRecovered;
}

bool is_kind_token(std::string_view token) {
  if (token.empty() || token.size() > 64 || token.front() == '.' || token.back() == '.' ||
      token.find('.') == std::string_view::npos || token.find("..") != std::string_view::npos) {
    return false;
  }
  return std::all_of(token.begin(), token.end(),
                     [](char c) { return c == '.' || is_word_char(c); });
}

std::string predicate_type(std::string_view kind) {
  return "urn:aasm:attestation:" + std::string(kind) + ":v1";
}

}  // namespace aasm::ledger_format
