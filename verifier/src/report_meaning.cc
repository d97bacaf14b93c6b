#include "report_meaning.h"

#include <algorithm>
#include <initializer_list>
#include <vector>

namespace aasm::verifier {
namespace {

using Code = FindingCode;
using Codes = std::initializer_list<Code>;

// Whether of what has this weight there is nothing but `codes`.
bool only(const FindingLog& log, Weight weight, Codes codes) {
  const std::vector<FindingLog::Group> groups = log.groups();
  return std::all_of(groups.begin(), groups.end(), [&](const FindingLog::Group& group) {
    return spec_of(group.code).weight != weight ||
           std::find(codes.begin(), codes.end(), group.code) != codes.end();
  });
}

std::string_view meaning_of_failure(const FindingLog& log) {
  if (only(log, Weight::kFails, {Code::kReportDiffers})) {
    return "The report given is not what the records say. Nothing in the file itself failed.";
  }
  if (only(log, Weight::kFails, {Code::kForeignLedger})) {
    return "This is another ledger than the one the trust files given are for, and no more is "
           "said.";
  }
  if (only(log, Weight::kFails, {Code::kReferenceBadSignature, Code::kReferenceOtherOrigin})) {
    return "The file does not go with the note it was compared with. Nothing in the file itself"
           " failed.";
  }
  return "Do not rely on this file: something in it is not what was signed, or contradicts itself.";
}

}  // namespace

std::string_view meaning_of(const Outcome& outcome, Verdict verdict) {
  switch (verdict) {
    case Verdict::kFailed:
      return meaning_of_failure(outcome.findings);
    case Verdict::kUnreadable:
      return only(outcome.findings, Weight::kUnreadable,
                  {Code::kReportUnreadable, Code::kReferenceUnreadable})
                 ? "What was given to compare with could not be read, so nothing was compared."
                 : "Nothing is said about this file: it could not be read to its end.";
    case Verdict::kInconclusive:
      return "Nothing contradicts, and something that the verdict needs is missing: see the"
             " findings.";
    case Verdict::kVerified:
      break;
  }
  return outcome.receipt ? "The run's end was signed by pinned keys and stands in the tree."
                         : "Every required check passed under pinned keys.";
}

bool misses_second_file(const Outcome& outcome) {
  if (outcome.target_kind != "ledger" || outcome.files.size() != 1) {
    return false;
  }
  const Codes ends = {Code::kRolledBack, Code::kRunUnfinished, Code::kTailUnsigned,
                      Code::kTailOfOpenRuns};
  return std::any_of(ends.begin(), ends.end(),
                     [&](Code code) { return outcome.findings.count(code) > 0; });
}

}  // namespace aasm::verifier
