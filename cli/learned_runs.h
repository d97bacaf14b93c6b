#pragma once

#include <map>
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
  std::string policy_path;  // of the document that all of them had
  // It and those it extends, by path.
  std::map<std::string, std::optional<schema::Sha256>> documents;
  std::string several;      // why there is no such policy; empty: there is
  std::string working_dir;  // empty: they had different ones
};

// Of a ledger that was verified: what is read now has to be what was verified then.
schema::Result<LearnedRuns> read_runs(ledger::LedgerReader& reader, const VerifiedTree& verified,
                                      const std::vector<std::string>& prefixes);

}  // namespace aasm::cli
