#pragma once

#include <string>
#include <vector>

#include "aasm/claims/report.h"

#include "sample_run.h"

namespace aasm::claims::test {

// The reports that the golden files show, by the name of their files.
struct NamedReport {
  std::string name;
  IsolationReport report;
};
std::vector<NamedReport> report_samples();

IsolationReport report_of(const Records& run);

// A run in which every text that comes from outside tries to forge lines and move the cursor.
Records hostile_run();

}  // namespace aasm::claims::test
