#include "refusal_text.h"

#include <system_error>

#include "aasm/planner/refusal.h"
#include "aasm/schema/utf8.h"

#include "print.h"

namespace aasm::cli {
namespace {

// Planned line breaks stay, each further line indented; all else is escaped.
std::string indented(const std::string& text, const std::string& indent) {
  std::string out;
  std::size_t at = 0;
  while (true) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    out += schema::escape_for_display(text.substr(at, end - at));
    if (end == text.size()) {
      return out;
    }
    out += "\n" + indent;
    at = end + 1;
  }
}

std::string advice_line(schema::RunEnding ending) {
  const std::string advice = planner::advice_for(ending);
  return advice.empty() ? std::string() : "  to do: " + advice + "\n";
}

std::string failure_text(const launcher::SessionEnd& end) {
  std::string out = "error: " + std::string(token(end.failure->ending)) + ": ";
  out += schema::escape_for_display(end.failure->step + ": " + end.failure->detail);
  const std::string reason = std::generic_category().message(end.failure->os_errno);
  if (end.failure->os_errno != 0 && end.failure->detail.find(reason) == std::string::npos) {
    out += " (" + reason + ")";
  }
  if (end.failure->ending == schema::RunEnding::kEvidenceFailure) {
    return out + "; the program may have run\n";
  }
  return out + "; no program ran\n" + advice_line(end.failure->ending);
}

}  // namespace

std::string refusal_text(const schema::Refusal& refusal) {
  const std::string name(refusal.reason ? token(*refusal.reason) : token(refusal.launch));
  return name + ": " + indented(refusal.detail, "      ") +
         "\n    to do: " + indented(refusal.fix, "      ") + "\n";
}

std::string refused_text(const schema::PlanRefused& refused) {
  const std::size_t number = refused.refusals.size();
  std::string out = "error: refused before the start; no program ran";
  out += number == 1 ? "\n" : " (" + std::to_string(number) + " reasons)\n";
  for (const schema::Refusal& one : refused.refusals) {
    out += "  " + refusal_text(one);
  }
  return out;
}

std::string ending_text(const launcher::SessionEnd& end) {
  if (end.boundary_failed && end.evidence_error) {
    return error_line(*end.evidence_error) +
           "  what keeps the boundary failed; the program was ended\n" +
           "  to do: " + planner::advice_for_failed_boundary() + "\n";
  }
  if (end.evidence_error) {
    return error_line(*end.evidence_error) + "  the run's evidence could not be written; " +
           (end.program_started ? "the program was ended\n" : "the program was not started\n") +
           advice_line(schema::RunEnding::kEvidenceFailure);
  }
  if (end.refused) {
    return refused_text(*end.refused);
  }
  return end.failure ? failure_text(end) : std::string();
}

}  // namespace aasm::cli
