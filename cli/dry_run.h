#pragma once

#include <string>

#include "aasm/planner/select.h"

#include "launch.h"
#include "options.h"

namespace aasm::cli {

// What a live run would do, in the sections that a dry run prints. Starts nothing, appends nothing.
schema::Result<std::string> render_dry_run(const Launch& launch, const RunCommand& command,
                                           const planner::PlanningOutcome& outcome);

// The same as JSON: schema/json/printed/dry-run.schema.json.
schema::Result<schema::JsonValue> dry_run_json(const Launch& launch, const RunCommand& command,
                                               const planner::PlanningOutcome& outcome);

}  // namespace aasm::cli
