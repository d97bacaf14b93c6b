#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "aasm/claims/facts.h"
#include "aasm/ledger/paths.h"
#include "aasm/schema/record_plan.h"

namespace aasm::cli {

// What earlier runs of this host measured, as their ledger holds it. Reads with a connection of its
// own and writes nothing, so it may be used while the ledger is being opened for appending.
class EarlierProbes {
 public:
  explicit EarlierProbes(ledger::LedgerPaths paths) : paths_(std::move(paths)) {}

  // The newest probe of `backend` that still holds under `conditions`.
  schema::Result<std::optional<schema::CapabilityProbed>> find(
      const std::string& backend, const schema::HostConditions& conditions);

  // Probes as they go on record: one that find() returned becomes a reference to its record, and
  // `facts`, if any, is told what stands there.
  std::vector<schema::CapabilityProbed> as_recorded(std::vector<schema::CapabilityProbed> probes,
                                                    claims::RunFacts* facts) const;

 private:
  struct Earlier {
    schema::ProbeReference reference;
    schema::CapabilityProbed body;
  };

  ledger::LedgerPaths paths_;
  std::vector<Earlier> found_;
};

}  // namespace aasm::cli
