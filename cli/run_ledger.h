#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "aasm/claims/facts.h"
#include "aasm/ledger/ledger_sink.h"
#include "aasm/ledger/paths.h"
#include "aasm/planner/backend.h"
#include "aasm/schema/record_plan.h"

#include "home.h"
#include "options.h"

namespace aasm::cli {

// The ledger as one run uses it: the sink, earlier probes of this host, and the receipt at the end.
class RunLedger {
 public:
  // kNotFound with the hint to run `aasm init` when there is no ledger; any other failure means
  // that evidence could not be written (keys or file refused, rolled back, busy).
  static schema::Result<RunLedger> open(const Home& home, const CommonOptions& common);

  schema::EvidenceSink& sink() { return *sink_; }

  // What `backend` can do here: an earlier probe of this ledger under equal conditions, else a new
  // one.
  schema::Result<schema::CapabilityProbed> capabilities(planner::Backend& backend,
                                                        const schema::HostConditions& conditions,
                                                        const std::string& helper_path);

  // Probes as they go on record: one taken from the ledger becomes a reference to its record, and
  // `facts` is told what stands there.
  std::vector<schema::CapabilityProbed> as_recorded(std::vector<schema::CapabilityProbed> probes,
                                                    claims::RunFacts& facts) const;

  // The receipt of a run that was closed through this sink.
  schema::Result<std::string> receipt(const schema::RunId& run) const;

 private:
  struct Earlier {
    schema::ProbeReference reference;
    schema::CapabilityProbed body;
  };

  ledger::LedgerPaths paths_;
  std::unique_ptr<ledger::LedgerSink> sink_;
  std::vector<Earlier> earlier_;  // those that capabilities() returned
};

}  // namespace aasm::cli
