#pragma once

#include "aasm/schema/json_value.h"
#include "aasm/verifier/verifier.h"

#include "outcome.h"

namespace aasm::verifier {

inline constexpr const char* kVerifyReportSchema = "aasm.verify-report/1";

// The report for programs, written for every verdict. `verdict` follows from the weights in
// `findings`; `pinned` false always comes with a finding that forbids VERIFIED.
schema::JsonValue report_json(const VerifyRequest& request, const Outcome& outcome,
                              Verdict verdict);

}  // namespace aasm::verifier
