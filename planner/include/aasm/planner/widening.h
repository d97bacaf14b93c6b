#pragma once

#include <string>
#include <vector>

#include "aasm/planner/environment.h"
#include "aasm/planner/selector.h"
#include "aasm/schema/record_policy.h"

// Whether one policy permits what another does not, decided for each type of selector. Pure.
namespace aasm::planner {

// One way in which `inner` goes beyond `outer`.
struct Widening {
  schema::Domain domain = schema::Domain::kFilesystemRead;
  std::string rule;    // the id of inner's rule or list, or of the one of outer that it lacks
  std::string reason;  // one sentence
};

// Every way in which a requirement permits, or leaves unproved, something that another on the same
// domain does not: a grant that no grant of `outer` covers or that `outer` denies, a limit that is
// higher or missing, a weaker posture, intent, reach or evidence. Empty: it widens nothing. Errs on
// the side of a widening where requirements do not say which half of a domain was stated
// (descriptors: compare the grants as well).
std::vector<Widening> widening(const schema::Requirement& outer, const schema::Requirement& inner,
                               const GroupMembers& groups = {});

// The same for whole policies: a domain that only `outer` states is a widening too.
std::vector<Widening> widening(const std::vector<schema::Requirement>& outer,
                               const std::vector<schema::Requirement>& inner,
                               const GroupMembers& groups = {});

// Environment and descriptors. What is not stated is the whole environment, and descriptors 0, 1
// and 2.
std::vector<Widening> widening(const CredentialGrants& outer, const CredentialGrants& inner);

}  // namespace aasm::planner
