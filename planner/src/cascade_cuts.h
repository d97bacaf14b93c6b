#pragma once

#include <functional>
#include <string>
#include <vector>

#include "aasm/planner/cascade.h"

// What a document grants and one of a broader scope does not: said where it was granted, as a gap
// that names the list, file and line that cut it.
namespace aasm::planner {

using Rules = std::vector<schema::PolicyRule>;
using NoteGap = std::function<void(const std::string& node, std::string reason)>;

// The grants of one document for one operation, under their names in the whole policy. Borrows.
struct StatedGrants {
  const CascadeMember* member = nullptr;
  const schema::Requirement* requirement = nullptr;
  Rules grants;
};

// `common` is what is left of all of them. `stated` by scope, the broadest first.
void note_cuts(const std::vector<StatedGrants>& stated, const Rules& common,
               const GroupMembers& groups, const NoteGap& gap);

// Grants of `whole` that a deny rule of a broader scope names.
void note_outranked(const schema::Requirement& whole, const std::vector<CascadeMember>& members,
                    const GroupMembers& groups, const NoteGap& gap);

}  // namespace aasm::planner
