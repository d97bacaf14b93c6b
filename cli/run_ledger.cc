#include "run_ledger.h"

#include <utility>

#include "aasm/ledger/keystore.h"
#include "aasm/ledger/probe_cache.h"
#include "aasm/ledger/reader.h"
#include "aasm/ledger/run_receipt.h"

#include "launch.h"

namespace aasm::cli {

using schema::Error;
using schema::ErrorCode;
using schema::Result;

Result<RunLedger> RunLedger::open(const Home& home, const CommonOptions& common) {
  RunLedger self;
  self.paths_ = common.ledger.empty()
                    ? ledger::LedgerPaths::in_home(home.root())
                    : ledger::LedgerPaths::with_ledger(home.root(), common.ledger);
  if (!home.initialised()) {
    return Error(ErrorCode::kNotFound, "not_initialised: there is no ledger in " + home.root() +
                                           "; run 'aasm init' first");
  }
  ledger::KeySet keys = AASM_TRY_CONTEXT(ledger::load_keys(self.paths_.keys), "keys");
  ledger::Store store =
      AASM_TRY_CONTEXT(ledger::Store::open(self.paths_, std::move(keys)), "ledger");
  self.sink_ = AASM_TRY(ledger::LedgerSink::create(std::move(store), self.paths_));
  return self;
}

Result<schema::CapabilityProbed> RunLedger::capabilities(planner::Backend& backend,
                                                         const schema::HostConditions& conditions,
                                                         const std::string& helper_path) {
  ledger::LedgerReader reader = AASM_TRY(ledger::LedgerReader::open(paths_.ledger));
  const std::string id = backend.identity().id;
  std::optional<ledger::CachedProbe> cached =
      AASM_TRY(ledger::find_probe(reader, paths_.probes, id, conditions, ledger::wall_now_ns()));
  if (!cached) {
    return probe_backend(backend, conditions, helper_path);
  }
  earlier_.push_back({cached->reference, cached->body});
  return cached->body;
}

std::vector<schema::CapabilityProbed> RunLedger::as_recorded(
    std::vector<schema::CapabilityProbed> probes, claims::RunFacts& facts) const {
  for (schema::CapabilityProbed& probe : probes) {
    for (const Earlier& earlier : earlier_) {
      if (earlier.body.backend.id == probe.backend.id) {
        facts.add_referenced_probe(earlier.reference.seq, earlier.reference.leaf, earlier.body);
        probe.domains.clear();
        probe.reference = earlier.reference;
      }
    }
  }
  return probes;
}

Result<std::string> RunLedger::receipt(const schema::RunId& run) const {
  ledger::LedgerReader reader = AASM_TRY(ledger::LedgerReader::open(paths_.ledger));
  return ledger::build_run_receipt(reader, run);
}

}  // namespace aasm::cli
