#include "run_states.h"

#include <variant>

#include "aasm/ledger_format/envelope.h"
#include "aasm/ledger_format/kind.h"

namespace aasm::ledger {
namespace {

using ledger_format::RecordKind;
using schema::Error;
using schema::ErrorCode;
using schema::Result;

Error out_of_order(const std::string& what) {
  return {ErrorCode::kInvalidArgument, what};
}

// A cheap look before parsing: canonical payloads spell a kind in one way only.
bool may_end_run(std::string_view payload) {
  return payload.find("\"kind\":\"run.closed\"") != std::string_view::npos ||
         payload.find("\"kind\":\"run.recovered\"") != std::string_view::npos;
}

}  // namespace

bool ends_run(std::string_view kind) {
  return kind == "run.closed" || kind == "run.recovered";
}

Result<void> RunStates::open_run(const PendingRecord& record) {
  const schema::JsonValue* key = record.body.find("run_key");
  const std::string* text = key == nullptr ? nullptr : key->as_string();
  if (text == nullptr) {
    return out_of_order("run.opened carries no run key");
  }
  Run run;
  run.key = AASM_TRY(schema::PublicKey::from_hex_text(*text));
  if (!runs_.emplace(record.run, run).second) {
    return out_of_order("a second run.opened");
  }
  return {};
}

Result<void> RunStates::accept(const PendingRecord& record, const schema::PublicKey& host) {
  const std::optional<RecordKind> kind = ledger_format::parse_record_kind(record.kind);
  if (!kind || record.signer == nullptr) {
    return out_of_order("a record of unknown kind or without a signer");
  }
  const bool by_host = ledger_format::is_signed_by_host(*kind);
  if (by_host && record.signer->public_key() != host) {
    return out_of_order(record.kind + " must be signed by the host key");
  }
  if (ledger_format::is_ledger_kind(*kind)) {
    return record.run.empty() ? Result<void>() : out_of_order(record.kind + " belongs to no run");
  }
  if (*kind == RecordKind::kRunOpened) {
    return open_run(record);
  }
  const auto run = runs_.find(record.run);
  if (run == runs_.end()) {
    return out_of_order(record.kind + " of a run that was not opened here");
  }
  if (!run->second.ended_by.empty()) {
    return Error(ErrorCode::kConflict,
                 record.kind + " after the run's end (" + run->second.ended_by + ")");
  }
  if (!by_host && record.signer->public_key() != run->second.key) {
    return out_of_order(record.kind + " must be signed by the run key");
  }
  if (*kind == RecordKind::kProcessStarted) {
    if (run->second.started) {
      return out_of_order("a second process.started");
    }
    run->second.started = true;
  }
  if (ends_run(record.kind)) {
    run->second.ended_by = record.kind;
  }
  return {};
}

void RunStates::adopt(const schema::RunId& run, const schema::PublicKey& key) {
  runs_[run].key = key;
}

void RunStates::observe(std::string_view payload) {
  if (runs_.empty() || !may_end_run(payload)) {
    return;
  }
  const auto parsed = ledger_format::parse_payload(payload);
  const auto* statement = std::get_if<ledger_format::Statement>(&parsed);
  if (statement == nullptr || !ends_run(statement->envelope.kind)) {
    return;
  }
  const auto run = runs_.find(statement->envelope.run);
  if (run != runs_.end()) {
    run->second.ended_by = statement->envelope.kind;
  }
}

}  // namespace aasm::ledger
