#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "aasm/schema/enum_names.h"
#include "aasm/schema/json_value.h"
#include "aasm/schema/record_activity.h"
#include "aasm/schema/record_boundary.h"
#include "aasm/schema/record_keys.h"
#include "aasm/schema/record_ledger.h"
#include "aasm/schema/record_plan.h"
#include "aasm/schema/record_policy.h"
#include "aasm/schema/record_run.h"
#include "aasm/schema/record_witness.h"

namespace aasm::schema {

// Every record body this version knows. A kind outside the list is `skipped` by the verifier.
using RecordBody =
    std::variant<LedgerCreated, RunOpened, PolicyResolved, CapabilityProbed, PlanResolved,
                 PlanRefused, ControlPrepared, BoundaryProved, ProcessStarted, DecisionBatch,
                 ObservationBatch, WitnessReported, ProcessExited, RunClosed, RunRecovered,
                 KeyRotated, KeyReplaced, KeyRevoked>;

// The kind token of a body: "run.opened".
std::string_view kind_of(const RecordBody& body);

// The body as JSON, and back. read_body returns nullopt inside the Result for an unknown kind.
JsonValue write_body(const RecordBody& body);
Result<std::optional<RecordBody>> read_body(std::string_view kind, const JsonValue& body);

// Whether the program of the run may be executed once this record is durable: boundary.proved,
// process.started itself, and the plan of an unconfined run, which proves no boundary.
bool permits_start(const RecordBody& body);

// Kinds of the ledger itself (ledger.*, key.*): their envelope carries no run id.
bool is_ledger_kind(std::string_view kind);

}  // namespace aasm::schema
