#pragma once

#include <string>

#include "aasm/verifier/verifier.h"

#include "outcome.h"

namespace aasm::verifier {

// The report for a person. Every value from outside is escaped to one line.
std::string report_text(const VerifyRequest& request, const Outcome& outcome, Verdict verdict);

}  // namespace aasm::verifier
