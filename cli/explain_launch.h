#pragma once

#include <string>
#include <utility>
#include <vector>

#include "aasm/planner/select.h"

#include "launch.h"

namespace aasm::cli {

// What is known of a run now without starting or measuring anything.
struct LaunchOutlook {
  std::string word;  // a launch posture, "refused" or "not_measured"
  // The boundary that is asked about: the one a run would have; where it would be refused, or where
  // nothing was measured, that of the first backend of this program. Null: none.
  const planner::Backend* asked = nullptr;
  std::string backend;                                     // that a run would have; may be empty
  std::vector<std::pair<std::string, std::string>> notes;  // word and sentence
};

// A measurement is taken from the ledger's records, where one still holds, and never made: what a
// boundary makes of an action follows from the policy alone, and only whether this host gives that
// boundary takes a measurement.
LaunchOutlook look_at_launch(const Launch& launch, const RunCommand& command);

}  // namespace aasm::cli
