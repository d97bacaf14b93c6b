#pragma once

#include "aasm/claims/claims.h"
#include "aasm/claims/facts.h"

namespace aasm::claims {

// The row of one domain under rules claims/1. `run` is run_channel(facts).
DomainClaim derive_domain(const RunFacts& facts, schema::Domain domain, const ChannelView& run);

}  // namespace aasm::claims
