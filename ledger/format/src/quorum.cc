#include <map>

#include "aasm/ledger_format/trust.h"

namespace aasm::ledger_format {

QuorumVerdict check_quorum(const TrustPolicy& policy, const Note& note) {
  std::map<std::string_view, bool> witnessed;
  for (const Witness& witness : policy.witnesses) {
    const NoteVerdict verdict = verify_note(note, witness.key);
    if (verdict == NoteVerdict::kBadSignature) {
      return QuorumVerdict::kBadSignature;
    }
    witnessed[witness.name] = verdict == NoteVerdict::kVerified;
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
  if (!policy.requires_witness()) {
    return QuorumVerdict::kMet;
  }
  const auto found = witnessed.find(policy.quorum);
  return found != witnessed.end() && found->second ? QuorumVerdict::kMet : QuorumVerdict::kNotMet;
}

}  // namespace aasm::ledger_format
