#pragma once

#include <string>

#include "aasm/launcher/session.h"
#include "aasm/schema/record_plan.h"

namespace aasm::cli {

// "token: what was asked and what is given" and below it "to do: ...". Every line but the first is
// indented, and every byte from outside is escaped: no text can look like another refusal.
std::string refusal_text(const schema::Refusal& refusal);

// All reasons of a refused launch under one line "error: ...".
std::string refused_text(const schema::PlanRefused& refused);

// What our own endings say on stderr; empty when the program ran and ended.
std::string ending_text(const launcher::SessionEnd& end);

}  // namespace aasm::cli
