#include <unistd.h>

#include <string>
#include <utility>

#include "aasm/ledger_format/receipt.h"
#include "aasm/verifier/verifier.h"

#include "fd.h"
#include "ledger_check.h"
#include "outcome.h"
#include "receipt_check.h"
#include "report_json.h"
#include "report_text.h"
#include "scratch_dir.h"
#include "snapshot.h"
#include "verdict.h"

namespace aasm::verifier {
namespace {

// The copy of a receipt, which take_snapshot() has bounded.
std::string read_copy(const Fd& copy) {
  std::string bytes;
  std::string chunk(std::size_t{64} << 10U, '\0');
  ssize_t got = 0;
  while ((got = pread(copy.get(), chunk.data(), chunk.size(), static_cast<off_t>(bytes.size()))) >
         0) {
    bytes.append(chunk, 0, static_cast<std::size_t>(got));
  }
  return bytes;
}

void check_target(const VerifyRequest& request, Outcome& outcome) {
  Step<ScratchDir> scratch = ScratchDir::make(request.scratch);
  if (scratch.fault() != nullptr) {
    add_fault(outcome.findings, *scratch.fault());
    return;
  }
  Step<Snapshot> taken =
      take_snapshot(request.target, *scratch.value(),
                    request.max_bytes == 0 ? kDefaultMaxBytes : request.max_bytes);
  if (taken.fault() != nullptr) {
    add_fault(outcome.findings, *taken.fault());
    return;
  }
  Snapshot& snapshot = *taken.value();
  outcome.files = std::move(snapshot.files);
  outcome.copy_attempts = snapshot.attempts;
  switch (snapshot.kind) {
    case TargetKind::kLedger:
      outcome.target_kind = "ledger";
      check_ledger(request, snapshot, *scratch.value(), outcome);
      return;
    case TargetKind::kReceipt:
      outcome.target_kind = "receipt";
      check_receipt(request, read_copy(snapshot.copies.front().fd), outcome);
      return;
  }
}

VerifyReport report_on(const VerifyRequest& request, Outcome& outcome) {
  VerifyReport report;
  report.verdict = verdict_of(outcome.findings);
  report.json = report_json(request, outcome, report.verdict);
  report.text = report_text(request, outcome, report.verdict);
  for (const FindingLog::Group& group : outcome.findings.groups()) {
    report.file_refused = report.file_refused || group.code == FindingCode::kTargetUnreadable;
  }
  if (report.verdict == Verdict::kVerified && !outcome.newest_note.empty()) {
    report.new_state = std::move(outcome.newest_note);
  }
  std::string& own = outcome.receipt ? outcome.receipt_note : outcome.newest_note;
  if (outcome.findings.count(FindingCode::kForked) > 0 && !own.empty()) {
    report.fork_note = std::move(own);
  }
  return report;
}

}  // namespace

VerifyReport verify(const VerifyRequest& request) {
  Outcome outcome;
  check_target(request, outcome);
  return report_on(request, outcome);
}

VerifyReport stopped_report(const VerifyRequest& request, Stopped why, const std::string& detail) {
  Outcome outcome;
  outcome.findings.add(
      why == Stopped::kByLimit ? FindingCode::kLimitReached : FindingCode::kInternalError, -1,
      {.detail = detail});
  return report_on(request, outcome);
}

}  // namespace aasm::verifier
