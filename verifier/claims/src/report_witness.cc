#include <algorithm>

#include "aasm/schema/utf8.h"

#include "report_sections.h"
#include "text.h"

namespace aasm::claims {
namespace {

constexpr std::size_t kShown = 16;

std::string denial_text(const schema::WitnessedDenial& denial) {
  std::string text = schema::escape_for_display(denial.blockers);
  if (denial.path) {
    text += " " + schema::escape_for_display(denial.path->bytes());
  }
  if (!denial.detail.empty()) {
    text += " " + schema::escape_for_display(denial.detail);
  }
  return text + (denial.count > 1 ? ", " + counted(denial.count, "time") : "");
}

std::string listed(const std::string& before, const std::vector<schema::WitnessedDenial>& denials) {
  std::string lines;
  for (std::size_t i = 0; i < std::min(denials.size(), kShown); ++i) {
    lines += line(before + denial_text(denials[i]));
  }
  if (denials.size() > kShown) {
    lines += line("and " + std::to_string(denials.size() - kShown) +
                  " more; the JSON report has those on record");
  }
  return lines;
}

// Of denials that there was no room for nothing is known but their number.
bool are_all_listed(const WitnessView& view) {
  std::int64_t left = view.heard;
  for (const schema::WitnessedDenial& denial : view.denials) {
    left -= denial.count;
  }
  return left == 0;
}

std::string account_text(const WitnessView& view) {
  switch (view.account) {
    case WitnessAccount::kAgrees:
      return "as many as the kernel counted";
    case WitnessAccount::kMissing:
      return "the kernel counted " + std::to_string(view.missing) + " more";
    case WitnessAccount::kUnknown:
      return "whether there were more is not known";
  }
  return "";
}

}  // namespace

std::string witness_block(const IsolationReport& report) {
  if (!report.claims.witness) {
    return "";
  }
  const WitnessView& view = *report.claims.witness;
  std::string lines;
  switch (view.standing) {
    case WitnessStanding::kNotReported:
      lines = line("policy asks for it, and no record says what it told");
      break;
    case WitnessStanding::kUnavailable:
      lines = line("unavailable: " + schema::escape_for_display(view.reason));
      break;
    case WitnessStanding::kHeard:
      lines = line(counted(view.heard, "refused action") + " of the program heard; " +
                   account_text(view) + ".") +
              listed("", view.denials);
      if (view.compared && view.unexplained.empty()) {
        lines += line(std::string(are_all_listed(view) ? "" : "of those on record, ") +
                      "each that a decision has to explain is explained by one.");
      }
      lines += listed("NO DECISION EXPLAINS ", view.unexplained);
      break;
  }
  return block("second witness, the kernel's audit (best effort; no claim rests on it):", lines);
}

}  // namespace aasm::claims
