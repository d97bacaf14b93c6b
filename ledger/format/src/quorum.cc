#include <map>

#include "aasm/ledger_format/trust.h"

namespace aasm::ledger_format {

QuorumVerdict check_quorum(const TrustPolicy& policy, const Note& note) {
  QuorumVerdict verdict;
  std::map<std::string_view, bool> witnessed;
  for (const Witness& witness : policy.witnesses) {
    const NoteVerdict one = verify_note(note, witness.key);
    if (one == NoteVerdict::kBadSignature) {
      verdict.bad.push_back(witness.name);
    }
    witnessed[witness.name] = one == NoteVerdict::kVerified;
  }
  // Groups name only what stands on earlier lines, so one pass in file order settles them all.
  for (const WitnessGroup& group : policy.groups) {
    std::size_t count = 0;
    for (const std::string& member : group.members) {
      const auto found = witnessed.find(member);
      if (found != witnessed.end() && found->second) {
        ++count;
      }
    }
    witnessed[group.name] = count >= group.threshold;
  }
  const auto found = witnessed.find(policy.quorum);
  verdict.met = !policy.requires_witness() || (found != witnessed.end() && found->second);
  return verdict;
}

}  // namespace aasm::ledger_format
