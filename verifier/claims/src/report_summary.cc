#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>

#include "aasm/claims/report.h"
#include "aasm/schema/utf8.h"

#include "text.h"

// What a reader who never saw this program needs, in one screen. It says nothing that the longer
// report does not say; words of the vocabulary stand where a claim is quoted.
namespace aasm::claims {
namespace {

constexpr std::size_t kLabelWidth = 14;
constexpr std::size_t kShownBytes = 96;  // of a name from outside
constexpr std::size_t kShownGroups = 6;  // of denials

std::string labelled(std::string label, const std::string& text) {
  label += ":";
  label.append(kLabelWidth - std::min(kLabelWidth - 1, label.size()), ' ');
  return label + text + "\n";
}

std::string further(const std::string& text) {
  return std::string(kLabelWidth, ' ') + text + "\n";
}

std::string how_it_ended(const IsolationReport& report) {
  const RunClaims& claims = report.claims;
  if (!claims.started) {
    return claims.program_may_have_run       ? "it may have run"
           : claims.state == RunState::kOpen ? "not started"
                                             : "it was not started";
  }
  if (!report.exit_cause) {
    return "how it ended is not recorded";
  }
  std::string text = report.exit_signal
                         ? "ended by signal " + std::to_string(*report.exit_signal)
                         : "ended with status " + std::to_string(report.exit_status.value_or(0));
  const schema::ExitCause cause = *report.exit_cause;
  const bool plain = cause == schema::ExitCause::kExited || cause == schema::ExitCause::kSignalled;
  return plain ? text : text + ", cause " + name_of(cause);
}

std::string program_line(const IsolationReport& report) {
  return labelled("program", shown(report.target_program.bytes(), kShownBytes) + " with " +
                                 counted(report.target_arg_count, "argument") + ", for agent " +
                                 shown(report.identity.agent_id, kShownBytes) + "; " +
                                 how_it_ended(report));
}

std::string names_where(const IsolationReport& report,
                        const std::function<bool(const DomainReport&)>& wanted) {
  std::vector<std::string> names;
  for (const DomainReport& row : report.domains) {
    if (wanted(row)) {
      names.push_back(name_of(row.claim.domain));
    }
  }
  return joined(names, ", ");
}

std::string boundary_of(const IsolationReport& report) {
  const std::string backend =
      report.backend ? shown(report.backend->id, kShownBytes) : std::string("none");
  switch (report.claims.posture) {
    case ReportedPosture::kReady:
    case ReportedPosture::kDegraded:
      return report.claims.started ? backend + ", around the program and its child processes"
                                   : backend + ", as planned; nothing is installed yet";
    case ReportedPosture::kUnconfined:
      return "NONE, as asked for (--isolation none): nothing is refused and nothing is watched";
    case ReportedPosture::kRefused:
      return "none; no program ran";
    case ReportedPosture::kNotPlanned:
      return "none is recorded";
  }
  return "";
}

std::string domain_line(const std::string& names, const std::string& what) {
  return names.empty() ? std::string() : further(what + ": " + names);
}

// What the operator has to know before anything else: nothing of this was held back.
std::string observing_lines(const IsolationReport& report) {
  const auto observed = [](const DomainReport& row) {
    return row.state == ControlState::kObserveOnly;
  };
  const std::string names = names_where(report, observed);
  if (names.empty()) {
    return "";
  }
  if (!report.claims.started) {
    return labelled("OBSERVED", "policy will prevent nothing in: " + names);
  }
  std::int64_t actions = 0;
  for (const DomainReport& row : report.domains) {
    actions = add_saturating(actions, observed(row) ? row.claim.observations : 0);
  }
  return labelled("OBSERVED", "policy prevented nothing in: " + names) +
         further(counted(actions, "action") +
                 " that policy or the host refuses recorded there, as observed; `aasm policy "
                 "learn` says what would allow them");
}

std::string boundary_lines(const IsolationReport& report) {
  using schema::BoundaryState;
  const auto stated_as = [](BoundaryState state) {
    return [state](const DomainReport& row) {
      return row.claim.stated && row.claim.boundary == state;
    };
  };
  const auto short_of = [](const DomainReport& row) {
    return row.claim.stated && row.state != ControlState::kPrevention &&
           row.state != ControlState::kObserveOnly;
  };
  std::string lines = labelled("boundary", boundary_of(report));
  if (report.claims.started) {
    lines += domain_line(names_where(report, stated_as(BoundaryState::kProved)),
                         "tested in this run before the start");
    lines += domain_line(names_where(report, stated_as(BoundaryState::kInstalled)),
                         "installed, not tested");
  }
  lines += domain_line(names_where(report, short_of), "NOT enforced as policy asks");
  lines += domain_line(names_where(report,
                                   [](const DomainReport& row) {
                                     return row.requested == RequestedControl::kNotStated;
                                   }),
                       "left open, policy does not state them");
  return lines;
}

std::string rule_text(const DenialGroup& group) {
  std::string text = "rule " + shown(group.rule, kShownBytes);
  if (group.line) {
    text += " (policy line " + std::to_string(*group.line) + ")";
  }
  return group.cause == schema::DecisionCause::kPolicy ? text
                                                       : text + ", cause " + name_of(group.cause);
}

std::string group_line(const DomainReport& row, const DenialGroup& group) {
  std::string text = name_of(row.claim.domain) + " " + shown(group.operation, kShownBytes) + ", " +
                     rule_text(group) + ": " + counted(group.actions, "action");
  std::string seen;
  for (const DenialExample& example : group.examples) {
    seen += seen.empty() ? "; first " : "; then ";
    seen += shown(object_text(example.object), kShownBytes) + " by " +
            (example.executable.bytes().empty() ? std::string("a program that is not known")
                                                : shown(example.executable.bytes(), kShownBytes));
    seen += example.pid > 0 ? " (pid " + std::to_string(example.pid) + ")" : "";
  }
  return further(text + seen);
}

std::string no_denial_text(const IsolationReport& report) {
  if (report.claims.posture == ReportedPosture::kUnconfined) {
    return "nothing was watched";
  }
  const std::string seen = names_where(report, [](const DomainReport& row) {
    return row.claim.may_state_absence() && row.state != ControlState::kObserveOnly;
  });
  if (seen.empty() && report.enforcement_mode == "observe") {
    return "nothing: what policy refuses was let through";
  }
  return seen.empty() ? "no refused action is recorded, and that says nothing"
                      : "no denial was recorded on " + seen +
                            ", of what their channels see (the report says what that is)";
}

std::string denial_lines(const IsolationReport& report) {
  std::string lines;
  std::size_t groups = 0;
  std::int64_t actions = 0;
  for (const DomainReport& row : report.domains) {
    for (const DenialGroup& group : row.claim.denials) {
      actions = add_saturating(actions, group.actions);
      lines += ++groups <= kShownGroups ? group_line(row, group) : std::string();
    }
    actions = add_saturating(actions, row.claim.denials_ungrouped);
  }
  if (actions == 0) {
    return labelled("refused", no_denial_text(report));
  }
  if (groups > kShownGroups) {
    lines += further("and " +
                     counted(static_cast<std::int64_t>(groups - kShownGroups), "further group"));
  }
  return labelled("refused", counted(actions, "action")) + lines;
}

std::string unlisted_line(const IsolationReport& report) {
  std::int64_t actions = 0;
  for (const DomainReport& row : report.domains) {
    actions = add_saturating(actions, row.claim.unlisted_actions.value_or(0));
  }
  return actions == 0 ? ""
                      : further(counted(actions, "action") +
                                " counted without their objects: those were too many to be told");
}

std::string unmeasured_line(const IsolationReport& report) {
  const std::string names = names_where(report, [](const DomainReport& row) {
    return row.claim.claim == schema::ClaimTerm::kUnmeasured;
  });
  return names.empty() ? std::string()
                       : labelled("not measured", names + ": of these no single action is known");
}

std::string authority_line(const IsolationReport& report) {
  if (!report.ambient) {
    return "";
  }
  const schema::AmbientAuthority& held = *report.ambient;
  std::int64_t residual = 0;
  std::int64_t closed = 0;
  for (const schema::InheritedDescriptor& one : held.descriptors) {
    residual += one.fate == schema::AuthorityFate::kAmbientUnremoved ? 1 : 0;
    closed += one.fate == schema::AuthorityFate::kRemoved ? 1 : 0;
  }
  const auto ambient = std::count_if(
      held.sensitive.begin(), held.sensitive.end(),
      [](const auto& one) { return one.fate == schema::AuthorityFate::kAmbientUnremoved; });
  std::string text = counted(held.delegated + held.ambient_unremoved, "environment name") +
                     " passed on, " + std::to_string(held.removed) + " removed";
  text += ambient > 0 ? "; " + std::to_string(ambient) +
                            " of those passed on look like credentials and policy names none"
                      : "";
  text += "; " + counted(closed, "inherited descriptor") + " closed";
  text += residual > 0 ? ", " + std::to_string(residual) + " left open" : "";
  return labelled("inherits", text);
}

// By their words only: the texts stand in full further down, with what to do about each.
std::string refusal_line(const IsolationReport& report) {
  std::vector<std::string> words;
  for (const schema::Refusal& one : report.refusals) {
    std::string word = one.reason ? name_of(*one.reason) : name_of(one.launch);
    word += one.domain ? " (" + name_of(*one.domain) + ")" : "";
    if (std::find(words.begin(), words.end(), word) == words.end()) {
      words.push_back(std::move(word));
    }
  }
  return words.empty()
             ? std::string()
             : labelled("why not", joined(words, ", ") + "; explained below, with what to do");
}

std::string channel_warning(const IsolationReport& report) {
  switch (report.claims.channel.state) {
    case schema::ChannelState::kLossy:
    case schema::ChannelState::kUnknownLoss:
      return further("events are missing: the counts are lower bounds");
    case schema::ChannelState::kCompleteUntilNestedFilter:
      return further("a filter of the program itself may hide later refusals");
    case schema::ChannelState::kComplete:
    case schema::ChannelState::kNone:
      return "";
  }
  return "";
}

std::string check_line(const IsolationReport& report) {
  if (report.run_id.empty()) {
    return labelled("check", "nothing is recorded: this is a preview");
  }
  return labelled("check", "aasm verify --run " + shown(report.run_id, kShownBytes) +
                               " recomputes this from the signed records");
}

}  // namespace

std::string render_summary(const IsolationReport& report) {
  std::string text = "--- summary ---\n";
  text += program_line(report);
  if (!report.policy_source.bytes().empty()) {
    text += labelled("policy", shown(report.policy_source.bytes(), kShownBytes));
  }
  text += observing_lines(report);
  text += boundary_lines(report);
  text += refusal_line(report);
  if (report.claims.started) {
    text += denial_lines(report) + unlisted_line(report) + channel_warning(report) +
            unmeasured_line(report);
  }
  text += authority_line(report);
  if (!report.claims.contradictions.empty()) {
    text += labelled("WARNING", "the records contradict each other; see below");
  }
  return text + check_line(report);
}

}  // namespace aasm::claims
