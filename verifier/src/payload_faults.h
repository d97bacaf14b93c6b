#pragma once

#include "aasm/ledger_format/envelope.h"
#include "aasm/verifier/findings.h"

namespace aasm::verifier {

// The finding for payload bytes that are no statement of ours.
FindingCode code_for(ledger_format::EnvelopeFault fault);

}  // namespace aasm::verifier
