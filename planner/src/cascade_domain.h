#pragma once

#include <functional>
#include <string>
#include <vector>

#include "aasm/planner/cascade.h"

#include "cascade_cuts.h"

namespace aasm::planner {

// What one document of several says of a domain. Both borrowed.
struct DomainStatement {
  const CascadeMember* member = nullptr;
  const schema::Requirement* requirement = nullptr;
};

// A path that some document denies, as a rule of every operation of the file system.
struct CascadeDenial {
  std::string id;
  std::string path;
  Position at;
};

// The requirement that allows what each of the statements allows: rules, default rule and evidence
// wish; the posture is left to the caller. `denials` matter to the file system only; those that lie
// in a grant are marked in `used`.
schema::Requirement intersect_domain(const std::vector<DomainStatement>& statements,
                                     const std::vector<CascadeDenial>& denials,
                                     std::vector<bool>& used, const GroupMembers& groups,
                                     const NoteGap& gap);

}  // namespace aasm::planner
