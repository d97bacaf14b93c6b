#include "channel_state.h"

#include <algorithm>

namespace aasm::claims {
namespace {

using schema::ChannelReport;
using schema::ChannelState;
using schema::ChannelTotals;
using schema::Domain;
using schema::EvidenceWish;

bool any_canary(const RunFacts& facts, ChannelReport report) {
  return std::any_of(facts.canaries().begin(), facts.canaries().end(),
                     [&](const auto& canary) { return canary.body.channel == report; });
}

// Opened before the start, closed after the exit, and run.closed agrees with the batches.
bool accounts_add_up(const RunFacts& facts) {
  const ChannelTotals& said = facts.closed()->body.channel;
  const EventTotals& found = facts.totals();
  return facts.closed()->mark.trustworthy() && said.opened && said.closed && facts.exited() &&
         facts.exited()->mark.seq < facts.closed()->mark.seq &&
         facts.closed()->body.ending == schema::RunEnding::kFinished && found.contiguous &&
         said.events == found.events && said.actions == found.actions &&
         said.dropped >= found.dropped && said.nested_filter_event == found.first_nested_filter;
}

bool any_event(const RunFacts& facts) {
  return facts.totals().events > 0 || facts.totals().dropped > 0;
}

// Whether policy asks for decisions of this domain. Only the filesystem has levels of them.
bool is_wished(const schema::Requirement& requirement) {
  if (requirement.domain == Domain::kFilesystemRead) {
    return requirement.evidence == EvidenceWish::kDecisions;
  }
  if (requirement.domain == Domain::kFilesystemWrite) {
    return requirement.evidence != EvidenceWish::kSetup;
  }
  return true;
}

bool canary_went_unreported(const RunFacts& facts, Domain domain) {
  return std::any_of(facts.canaries().begin(), facts.canaries().end(), [&](const auto& canary) {
    return canary.body.domain == domain && canary.body.purpose == schema::Purpose::kPolicy &&
           canary.body.channel == ChannelReport::kNotReported;
  });
}

}  // namespace

ChannelView run_channel(const RunFacts& facts) {
  if (!facts.closed()) {
    const bool there_was_one = any_event(facts) || any_canary(facts, ChannelReport::kReported);
    return {there_was_one ? ChannelState::kUnknownLoss : ChannelState::kNone, 0};
  }
  const ChannelTotals& said = facts.closed()->body.channel;
  if (!said.present || !facts.started()) {
    return {any_event(facts) ? ChannelState::kUnknownLoss : ChannelState::kNone, 0};
  }
  if (!accounts_add_up(facts)) {
    return {ChannelState::kUnknownLoss, 0};
  }
  if (said.dropped > 0) {
    return {ChannelState::kLossy, said.dropped};
  }
  if (said.nested_filter_event) {
    return {ChannelState::kCompleteUntilNestedFilter, *said.nested_filter_event};
  }
  return {ChannelState::kComplete, 0};
}

ChannelView domain_channel(const RunFacts& facts, Domain domain, const ChannelView& run) {
  const DomainActivity& activity = facts.activity(domain);
  const bool events = activity.total_decisions() > 0 || activity.observations > 0;
  const ChannelView unpromised{events ? ChannelState::kUnknownLoss : ChannelState::kNone, 0};
  const schema::Requirement* requirement = facts.requirement(domain);
  if (requirement == nullptr || !is_wished(*requirement) || run.state == ChannelState::kNone) {
    return unpromised;
  }
  const schema::CapabilityProbed* measured = facts.measured();
  if (measured == nullptr) {
    return {ChannelState::kUnknownLoss, 0};
  }
  const schema::DomainCapability* capability = measured->find(domain);
  if (capability == nullptr || capability->channel.mechanism.empty() ||
      capability->channel.mechanism == "none") {
    return unpromised;
  }
  if (canary_went_unreported(facts, domain)) {
    return {ChannelState::kUnknownLoss, 0};
  }
  return run;
}

}  // namespace aasm::claims
