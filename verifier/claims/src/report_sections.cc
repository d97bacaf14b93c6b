#include "report_sections.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "aasm/schema/utf8.h"

#include "text.h"

namespace aasm::claims {
namespace {

using schema::ClaimTerm;
using schema::escape_for_display;

constexpr std::size_t kNumColumns = 7;
using Row = std::array<std::string, kNumColumns>;

Row row_of(const DomainReport& report) {
  const DomainClaim& claim = report.claim;
  return {name_of(claim.domain), name_of(report.requested), name_of(report.state),
          claim.claim_text(),    name_of(claim.basis),      name_of(claim.boundary),
          claim.channel.text()};
}

std::string by_rule_text(const DomainClaim& claim) {
  std::vector<std::string> parts;
  for (const RuleCount& count : claim.denied_by_rule) {
    parts.push_back(escape_for_display(count.rule) + " (" + std::to_string(count.actions) + ")");
  }
  return joined(parts, ", ");
}

std::string denied_sentence(const DomainClaim& claim) {
  return counted(claim.denied_actions, "action") + " refused before taking effect, by rule " +
         by_rule_text(claim) + ". A statement about those actions, not about the domain.";
}

std::string sentence_of(const DomainClaim& claim) {
  if (!claim.claim) {
    return "";
  }
  switch (*claim.claim) {
    case ClaimTerm::kDeniedBeforeExecution:
      return denied_sentence(claim);
    case ClaimTerm::kEvaluated:
      return counted(claim.evaluated_actions, "action") +
             " decided on; none is counted as prevented.";
    case ClaimTerm::kDetected:
      return "noticed by " + claim.detector + ", after the fact.";
    case ClaimTerm::kObserved:
      return counted(claim.observations, "action") +
             " seen; no decision was taken on them, and an observed action is not a prevented one.";
    case ClaimTerm::kDegraded:
      return "planned " + escape_for_display(claim.planned) + ", achieved " +
             escape_for_display(claim.achieved) + ".";
    case ClaimTerm::kExperimental:
      return "the backend is not validated on this platform; no coverage is claimed.";
    case ClaimTerm::kPlanned:
      return "nothing has been shown yet.";
    case ClaimTerm::kUnsupported:
      return "no mechanism here.";
    case ClaimTerm::kUnmeasured:
    case ClaimTerm::kRedacted:
    case ClaimTerm::kApprovalRequired:
      return "";  // unmeasured has its own list; claims/1 never yields the other two
  }
  return "";
}

std::string decision_counts(const DomainClaim& claim) {
  std::vector<std::string> parts;
  for (const DecisionCount& count : claim.decisions) {
    const bool fallback = count.cause == schema::DecisionCause::kCompat &&
                          count.outcome == schema::DecisionOutcome::kDenied;
    const std::string what =
        fallback ? "answered ENOSYS for the caller to fall back" : name_of(count.outcome);
    parts.push_back(std::to_string(count.actions) + " " + what + " (" + name_of(count.cause) + ")");
  }
  if (claim.observations > 0) {
    parts.push_back(std::to_string(claim.observations) + " observed");
  }
  return joined(parts, ", ");
}

// What the state of the run's channel means for the counts above it.
std::string channel_line(const ChannelView& channel) {
  switch (channel.state) {
    case schema::ChannelState::kCompleteUntilNestedFilter:
      return line("channel: from event " + std::to_string(channel.number) +
                  " on, a filter of the workload itself may refuse calls before they are seen.");
    case schema::ChannelState::kLossy:
      return line("channel: " + counted(channel.number, "event") +
                  " lost; the counts are lower bounds.");
    case schema::ChannelState::kUnknownLoss:
      return line("channel: how many events are missing is not known; counts are lower bounds.");
    case schema::ChannelState::kComplete:
    case schema::ChannelState::kNone:
      return "";
  }
  return "";
}

// Why nothing is known of a domain whose plan stood, or what the plan says of it.
std::string why_unmeasured(const IsolationReport& report, const DomainReport& row) {
  const bool planned =
      row.state == ControlState::kPrevention || row.state == ControlState::kObserveOnly;
  if (!planned || !report.claims.started) {
    return escape_for_display(row.state_detail);
  }
  const ChannelView& channel = row.claim.channel;
  if (channel.state == schema::ChannelState::kNone) {
    return "nothing reports single actions of this domain; its boundary is " +
           name_of(row.claim.boundary);
  }
  if (channel.state != schema::ChannelState::kComplete) {
    return "the channel is " + channel.text() + ", so nothing is concluded";
  }
  return row.claim.decisions.empty() && row.claim.observations == 0
             ? "nothing of this domain was decided or observed"
             : "what is recorded of this domain counts for no claim";
}

bool has_denials(const DomainClaim& claim) {
  return std::any_of(claim.decisions.begin(), claim.decisions.end(), [](const auto& count) {
    return count.outcome == schema::DecisionOutcome::kDenied &&
           count.cause != schema::DecisionCause::kCompat;
  });
}

std::string evidence_lines(const IsolationReport& report, const DomainReport& row) {
  const DomainClaim& claim = row.claim;
  const std::string name = name_of(claim.domain);
  std::string lines;
  const std::string counts = decision_counts(claim);
  if (!counts.empty()) {
    lines += line(name + ": recorded " + counts + ".");
  }
  for (const UncountedDenials& uncounted : claim.uncounted_denials) {
    lines += line(name + ": " + counted(uncounted.actions, "policy denial") +
                  " not counted as prevention: " + name_of(uncounted.failed) + " does not hold.");
  }
  if (claim.unlisted_actions) {
    lines += line(name + ": " + counted(*claim.unlisted_actions, "action") +
                  " counted without their objects, of which there were more than a run keeps "
                  "apart.");
  }
  if (claim.stated && report.claims.started && claim.boundary != schema::BoundaryState::kAbsent) {
    lines += line(name + ": boundary " + name_of(claim.boundary) + " (" +
                  escape_for_display(claim.boundary_reason) + ").");
  }
  const bool observed = row.state == ControlState::kObserveOnly;
  if (observed && claim.observations > 0) {
    lines += line(name + ": nothing that policy refuses was prevented: it was let through.");
  } else if (claim.may_state_absence() && !has_denials(claim)) {
    lines += line(name +
                  (observed ? ": no action that policy refuses was seen. The channel sees: "
                            : ": no denial was recorded. The channel sees: ") +
                  escape_for_display(claim.channel_scope) +
                  ". This sentence says nothing about what it does not see.");
  }
  return lines;
}

}  // namespace

std::string domain_table(const IsolationReport& report) {
  std::vector<Row> rows = {
      {"DOMAIN", "REQUESTED", "STATE", "CLAIM", "EVIDENCE", "BOUNDARY", "CHANNEL"}};
  for (const DomainReport& domain : report.domains) {
    rows.push_back(row_of(domain));
  }
  std::array<std::size_t, kNumColumns> widths{};
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < kNumColumns; ++i) {
      widths.at(i) = std::max(widths.at(i), row.at(i).size());
    }
  }
  std::string text = "\n";
  for (const Row& row : rows) {
    std::string printed = "  ";
    for (std::size_t i = 0; i < kNumColumns; ++i) {
      printed += row.at(i);
      if (i + 1 < kNumColumns) {
        printed.append(widths.at(i) + 2 - row.at(i).size(), ' ');
      }
    }
    text += printed + "\n";
  }
  return text;
}

std::string claim_sentences(const IsolationReport& report) {
  std::string lines;
  for (const DomainReport& row : report.domains) {
    const std::string sentence = sentence_of(row.claim);
    if (!sentence.empty()) {
      lines += line(name_of(row.claim.domain) + ": " + std::string(row.claim.claim_token()) + ": " +
                    sentence);
    }
    lines += evidence_lines(report, row);
  }
  return block("what the claims cover:", lines + channel_line(report.claims.channel));
}

std::string shortfall_block(const IsolationReport& report) {
  std::string lines;
  for (const DomainReport& row : report.domains) {
    const bool short_of = row.state == ControlState::kDegraded ||
                          row.state == ControlState::kUnsupported ||
                          row.state == ControlState::kUnmeasured;
    if (row.claim.stated && short_of) {
      lines += line(name_of(row.claim.domain) + ": " + name_of(row.state) + ": " +
                    escape_for_display(row.state_detail));
    }
  }
  return block("NOT enforced as policy asks:", lines);
}

std::string refusal_block(const IsolationReport& report) {
  std::string lines;
  for (const schema::Refusal& refusal : report.refusals) {
    std::string head = name_of(refusal.launch);
    if (refusal.domain && refusal.reason) {
      head += ": " + name_of(*refusal.domain) + ": " + name_of(*refusal.reason);
    } else if (refusal.reason) {
      head += ": " + name_of(*refusal.reason);
    }
    lines += line(head + ": " + escape_for_display(refusal.detail));
    lines += line("  fix: " + escape_for_display(refusal.fix));
  }
  return block("refused, before any program started:", lines);
}

// A list that may be as long as the policy. What a reader wants more of is in the other forms.
std::string first_lines(const std::string& before, const std::vector<std::string>& list) {
  constexpr std::size_t kShown = 16;
  std::string lines;
  for (std::size_t i = 0; i < std::min(list.size(), kShown); ++i) {
    lines += line(before + escape_for_display(list[i]));
  }
  if (list.size() > kShown) {
    lines += line(before + "and " + std::to_string(list.size() - kShown) +
                  " more; the machine-readable report has them all");
  }
  return lines;
}

std::string policy_block(const IsolationReport& report) {
  std::string lines;
  std::vector<std::string> not_stated;
  for (const DomainReport& row : report.domains) {
    if (row.requested == RequestedControl::kNotStated) {
      not_stated.push_back(name_of(row.claim.domain));
    }
    lines += first_lines(name_of(row.claim.domain) + ": ", row.policy_gaps);
  }
  lines += first_lines("", report.policy_gaps) + first_lines("unmapped: ", report.policy_unmapped);
  if (!not_stated.empty()) {
    lines = line("not stated, left open: " + joined(not_stated, ", ")) + lines;
  }
  return block("policy gaps:", lines);
}

std::string self_protection_block(const IsolationReport& report) {
  std::string lines;
  for (const DomainReport& row : report.domains) {
    for (const std::string& closed : row.claim.closed_by_self_protection) {
      lines += line(name_of(row.claim.domain) + ": " + escape_for_display(closed));
    }
  }
  return block("closed by self-protection (never counted for a claim):", lines);
}

std::string unmeasured_block(const IsolationReport& report) {
  std::string lines;
  for (const DomainReport& row : report.domains) {
    if (row.claim.claim == ClaimTerm::kUnmeasured) {
      lines += line(name_of(row.claim.domain) + ": " + why_unmeasured(report, row));
    }
  }
  return block("unmeasured (no single action is known):", lines);
}

std::string judgement_block(const IsolationReport& report) {
  std::string contradictions;
  for (const Contradiction& one : report.claims.contradictions) {
    const std::string place =
        one.seq < 0 ? std::string() : " (record " + std::to_string(one.seq) + ")";
    contradictions += line(name_of(one.code) + place + ": " + escape_for_display(one.detail) +
                           (one.count > 1 ? ", " + counted(one.count, "time") : ""));
  }
  std::string questions;
  for (const OpenQuestion question : report.claims.open_questions) {
    questions += line(name_of(question));
  }
  return block("CONTRADICTIONS in the records:", contradictions) +
         block("open questions:", questions);
}

}  // namespace aasm::claims
