#pragma once

#include <string>

#include "aasm/claims/report.h"

namespace aasm::claims {

// The blocks below the header of the human report, each ending in a newline, empty when there is
// nothing to say. Every value of a record is escaped to one line.
std::string domain_table(const IsolationReport& report);
std::string claim_sentences(const IsolationReport& report);
std::string witness_block(const IsolationReport& report);
std::string shortfall_block(const IsolationReport& report);
std::string refusal_block(const IsolationReport& report);
std::string policy_block(const IsolationReport& report);
std::string self_protection_block(const IsolationReport& report);
std::string authority_block(const IsolationReport& report);
std::string unmeasured_block(const IsolationReport& report);
std::string judgement_block(const IsolationReport& report);

}  // namespace aasm::claims
