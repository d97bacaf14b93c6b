#include "earlier_probes.h"

#include "aasm/ledger/pending_record.h"
#include "aasm/ledger/probe_cache.h"
#include "aasm/ledger/reader.h"

namespace aasm::cli {

using schema::Result;

Result<std::optional<schema::CapabilityProbed>> EarlierProbes::find(
    const std::string& backend, const schema::HostConditions& conditions) {
  ledger::LedgerReader reader = AASM_TRY(ledger::LedgerReader::open(paths_.ledger));
  std::optional<ledger::CachedProbe> cached = AASM_TRY(
      ledger::find_probe(reader, paths_.probes, backend, conditions, ledger::wall_now_ns()));
  if (!cached) {
    return std::optional<schema::CapabilityProbed>();
  }
  found_.push_back({cached->reference, cached->body});
  return std::optional<schema::CapabilityProbed>(std::move(cached->body));
}

std::vector<schema::CapabilityProbed> EarlierProbes::as_recorded(
    std::vector<schema::CapabilityProbed> probes, claims::RunFacts* facts) const {
  for (schema::CapabilityProbed& probe : probes) {
    for (const Earlier& earlier : found_) {
      if (earlier.body.backend.id == probe.backend.id) {
        if (facts != nullptr) {
          facts->add_referenced_probe(earlier.reference.seq, earlier.reference.leaf, earlier.body);
        }
        probe.domains.clear();
        probe.reference = earlier.reference;
      }
    }
  }
  return probes;
}

}  // namespace aasm::cli
