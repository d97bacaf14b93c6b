#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "aasm/schema/record_activity.h"
#include "aasm/schema/record_plan.h"
#include "aasm/schema/record_policy.h"

namespace aasm::backend_native {

// Whether this backend can let through and record what a policy refuses in this domain. What it
// sets up once, before the program starts, it can only enforce.
bool can_be_observed(schema::Domain domain);

// The domains of one run that are observed (docs/decisions/0023), and what refusals of the policy
// cite there. Self-protection has rules of its own, so nothing of it is let through. A value.
class Observing {
 public:
  Observing() = default;  // none
  Observing(const schema::PlanResolved& plan, const std::vector<schema::Requirement>& requirements);

  bool covers(schema::Domain domain) const { return refusing_.contains(domain); }
  bool any() const { return !refusing_.empty(); }
  std::vector<schema::Domain> domains() const;

  // Whether what `refusal` refuses is let through instead.
  bool lets_through(const schema::Event& refusal) const;

  // How an event of the workload stands in the record. In an observed domain nobody decides: what
  // policy would refuse, and what the host refuses, is an observation, and what policy allows is
  // not recorded.
  enum class Form : std::uint8_t { kDecision, kObservation, kUnrecorded };
  Form form_of(const schema::Event& event) const;

 private:
  bool refuses(const schema::Event& event) const;

  std::map<schema::Domain, std::set<std::string>> refusing_;
};

// What is seen of an action that policy would refuse, from that refusal.
schema::Event seen(schema::Event refusal);

}  // namespace aasm::backend_native
