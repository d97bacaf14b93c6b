#pragma once

#include "aasm/claims/claims.h"
#include "aasm/claims/facts.h"

namespace aasm::claims {

// What can be said of the decision channel of the run, whatever the domain.
ChannelView run_channel(const RunFacts& facts);

// The same for one domain: the run's channel where it reports decisions of that domain, as the
// selected backend measured and policy asked; `none` where nothing reports; `unknown_loss` where
// events exist that nothing promised, or where it is not known what the channel covers.
ChannelView domain_channel(const RunFacts& facts, schema::Domain domain, const ChannelView& run);

}  // namespace aasm::claims
