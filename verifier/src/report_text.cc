#include "report_text.h"

#include <algorithm>
#include <string_view>

#include "aasm/schema/utf8.h"

#include "report_meaning.h"
#include "verdict.h"

namespace aasm::verifier {
namespace {

// Collects lines "  label     value".
class Page {
 public:
  void line(std::string_view text) { text_.append(text).append("\n"); }
  void field(std::string_view label, std::string_view value) {
    constexpr std::size_t kLabelWidth = 12;
    std::string padded(label);
    padded.resize(std::max(kLabelWidth, padded.size() + 1), ' ');
    text_.append("  ").append(padded).append(value).append("\n");
  }
  void field(std::string_view label, std::uint64_t value) { field(label, std::to_string(value)); }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

template <class Id>
std::string short_id(const std::optional<Id>& id) {
  return id ? id->hex().substr(0, 16) : "none";
}

void print_target(Page& page, const VerifyRequest& request, const Outcome& outcome) {
  page.field("target", shown(request.target) + " (" + outcome.target_kind + ")");
  for (const CopiedFile& file : outcome.files) {
    page.field("file", shown(file.name) + ", " + std::to_string(file.size) + " bytes, sha256 " +
                           file.digest.hex());
  }
}

void print_trust(Page& page, const VerifyRequest& request, const Outcome& outcome) {
  const TrustOutcome& trust = outcome.trust;
  const std::string source = request.trust_source.empty() ? "none" : shown(request.trust_source);
  page.field("trust", source + (request.explicit_trust ? " (given)" : " (this host's)"));
  if (!trust.judged) {
    return;
  }
  page.field("origin", shown(trust.origin));
  page.field("keys", "root " + short_id(trust.root) + ", host " + short_id(trust.host) + ", log " +
                         short_id(trust.log) +
                         (trust.pinned ? ", pinned" : ", from the file itself"));
}

void print_confinement(Page& page, const VerifyRequest& request) {
  page.field("verifier", shown(request.confinement.text));
}

void print_names(Page& page, std::string_view label, const NameList& names) {
  if (names.count == 0) {
    return;
  }
  page.field(label, names.count);
  for (const std::string& name : names.newest) {
    page.field("", name);
  }
  if (names.count > names.newest.size()) {
    page.field("", "and " + std::to_string(names.count - names.newest.size()) + " earlier");
  }
}

void print_coverage(Page& page, const Coverage& coverage) {
  page.line("coverage");
  page.field("records", coverage.records);
  page.field("signed to", std::to_string(coverage.signed_up_to) + " by " +
                              std::to_string(coverage.checkpoints) + " checkpoints");
  if (coverage.witnessed_up_to > 0) {
    page.field("witnessed", "to " + std::to_string(coverage.witnessed_up_to));
  }
  page.field("runs", std::to_string(coverage.runs) + ", closed " + std::to_string(coverage.closed));
  print_names(page, "interrupted", coverage.interrupted);
  print_names(page, "unfinished", coverage.unfinished);
  if (coverage.skipped > 0) {
    page.field("skipped", coverage.skipped);
  }
  page.field("blobs", std::to_string(coverage.blobs) + ", withheld " +
                          std::to_string(coverage.blobs_withheld));
  if (coverage.dropped_events > 0) {
    page.field("dropped", std::to_string(coverage.dropped_events) + " events");
  }
}

void print_compared(Page& page, const Coverage& coverage) {
  for (const ComparedNote& note : coverage.compared) {
    page.field("compared", note.source + ", size " + std::to_string(note.size) +
                               (note.agreed ? ": agrees" : ": DISAGREES"));
  }
  if (coverage.compared.empty() && coverage.witnessed_up_to == 0) {
    page.field("note", "no head, state or witness was compared: an older, shorter copy of this");
    page.field("", "ledger, or one whose last records were cut off, would look the same.");
  }
}

void print_second_file(Page& page, const Outcome& outcome) {
  if (misses_second_file(outcome)) {
    page.field("note", "no " + shown(outcome.files.front().name) + "-wal is beside this file: a");
    page.field("", "ledger in use has its newest records there; ask for both files.");
  }
}

void print_item(Page& page, const Finding& finding) {
  std::string line = "    ";
  line += finding.seq < 0 ? "file" : "record " + std::to_string(finding.seq);
  if (!finding.detail.empty()) {
    line += ", " + finding.detail;
  }
  page.line(line);
  if (!finding.expected.empty()) {
    page.line("      expected " + finding.expected);
  }
  if (!finding.actual.empty()) {
    page.line("      actual   " + finding.actual);
  }
}

void print_findings(Page& page, const FindingLog& log) {
  if (log.total() == 0) {
    return;
  }
  page.line("findings (" + std::to_string(log.total()) + ", listed " +
            std::to_string(log.num_listed()) + ")");
  for (const FindingLog::Group& group : log.groups()) {
    const FindingSpec& spec = spec_of(group.code);
    page.line("  " + std::string(spec.token) + " (" + std::string(to_string(spec.weight)) + "), " +
              std::to_string(group.count) + (group.count == 1 ? " time" : " times"));
    for (const Finding& finding : group.listed) {
      print_item(page, finding);
    }
    if (group.count > group.listed.size()) {
      page.line("    and " + std::to_string(group.count - group.listed.size()) + " more");
    }
    page.line("    means: " + std::string(spec.meaning));
  }
}

std::string claims_heading(Verdict verdict) {
  if (claims_are_evidence(verdict)) {
    return "claims, recomputed";
  }
  return "what the records claim; NO EVIDENCE, for this file is " + std::string(to_string(verdict));
}

void print_runs(Page& page, const RunsOutcome& runs, Verdict verdict) {
  if (runs.in_scope == 0) {
    return;
  }
  std::string counts;
  for (const auto& [state, count] : runs.by_state) {
    counts += (counts.empty() ? "" : ", ") + std::to_string(count) + " " + state;
  }
  page.line(claims_heading(verdict) + " (" + counts + ")");
  if (runs.in_scope > runs.newest.size()) {
    page.line("  the newest " + std::to_string(runs.newest.size()) + " of " +
              std::to_string(runs.in_scope));
  }
  for (const RunOutcome& run : runs.newest) {
    page.line("  run " + run.id + ", " + run.state +
              (run.posture.empty() ? "" : ", " + run.posture) + ", records " +
              std::to_string(run.opened_seq) + " to " + std::to_string(run.last_seq));
    if (!run.has_claims) {
      page.line("    no claims");
    }
    for (const std::string& line : run.lines) {
      page.line("    " + shown(line));
    }
  }
  for (const RunOutcome& run : runs.newest) {
    if (claims_are_evidence(verdict) && !run.human.empty()) {
      page.line(run.human);
    }
  }
}

void print_receipt(Page& page, const ReceiptOutcome& said) {
  page.line("receipt: recorded, not recomputed");
  page.field("run", said.run);
  page.field("agent", shown(said.agent));
  page.field("program", said.program);  // PathBytes::display() has escaped it
  page.field("isolation", said.isolation);
  page.field("ending", said.ending + (said.program_started ? ", the program started"
                                                           : ", no program started"));
  page.field("channel", std::to_string(said.events) + " events, " + std::to_string(said.actions) +
                            " actions, " + std::to_string(said.dropped) + " dropped");
  page.field("included", "as record " + std::to_string(said.index) + " of a tree of " +
                             std::to_string(said.tree_size));
}

}  // namespace

std::string report_text(const VerifyRequest& request, const Outcome& outcome, Verdict verdict) {
  Page page;
  page.line("verify: " + std::string(to_string(verdict)));
  if (!outcome.trust.pinned) {
    page.line("UNPINNED: no key of this file is pinned by the trust files.");
  }
  print_target(page, request, outcome);
  print_trust(page, request, outcome);
  print_confinement(page, request);
  if (outcome.trust.judged) {
    print_coverage(page, outcome.coverage);
    print_compared(page, outcome.coverage);
    print_second_file(page, outcome);
  }
  print_runs(page, outcome.runs, verdict);
  if (outcome.receipt && verdict != Verdict::kFailed) {
    print_receipt(page, *outcome.receipt);
  }
  print_findings(page, outcome.findings);
  page.line(meaning_of(outcome, verdict));
  return page.take();
}

}  // namespace aasm::verifier
