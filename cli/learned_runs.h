#pragma once

#include <optional>
#include <string>
#include <vector>

#include "aasm/planner/learn.h"
#include "aasm/schema/digest.h"

#include "runs_reader.h"

namespace aasm::cli {

// What the records of some runs say to whoever wants to learn from them.
struct LearnedRuns {
  std::vector<planner::AskedEvent> asked;
  std::string policy_path;                 // of the document that all of them had
  std::optional<schema::Sha256> document;  // its digest
  std::string several;                     // why there is none; empty: there is
  std::string working_dir;                 // empty: they had different ones
};

schema::Result<LearnedRuns> read_runs(ledger::LedgerReader& reader,
                                      const std::vector<std::string>& prefixes);

}  // namespace aasm::cli
