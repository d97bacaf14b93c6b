#include <algorithm>
#include <cstddef>
#include <numeric>

#include "aasm/claims/facts.h"

#include "address_coverage.h"
#include "conjuncts.h"
#include "coverage.h"
#include "text.h"

namespace aasm::claims {
namespace {

using schema::DecisionCause;
using schema::DecisionOutcome;
using schema::Event;
using schema::PolicyRule;
using schema::Requirement;

template <class E>
std::size_t index_of(E value) {
  return static_cast<std::size_t>(value);
}

// Rule 3: cause policy, host_permission or ambiguous.
bool is_evaluation(DecisionCause cause) {
  switch (cause) {
    case DecisionCause::kPolicy:
    case DecisionCause::kHostPermission:
    case DecisionCause::kAmbiguous:
      return true;
    case DecisionCause::kFault:
    case DecisionCause::kCompat:
      return false;
  }
  return false;
}

// Several rules share an id when one line of policy was lowered to several (a group of calls).
struct CitedRule {
  bool found = false;
  bool denies = false;
  Coverage coverage = Coverage::kNotCovered;
};

CitedRule look_up(const Requirement& requirement, const Event& event, const NameAnswers& answers) {
  CitedRule cited;
  for (const PolicyRule& rule : requirement.rules) {
    if (rule.id != event.rule) {
      continue;
    }
    cited.found = true;
    cited.denies = cited.denies || rule.effect == schema::RuleEffect::kDeny;
    const Coverage coverage = covers(rule.selector, event.object, &answers);
    if (coverage == Coverage::kCovered ||
        (coverage == Coverage::kUndecided && cited.coverage == Coverage::kNotCovered)) {
      cited.coverage = coverage;
    }
  }
  return cited;
}

// Policy calls whatever changes files `write`.
bool governs(const PolicyRule& rule, const Event& event) {
  return rule.operation == event.operation ||
         (event.domain == schema::Domain::kFilesystemWrite && rule.operation == "write");
}

bool covers_an_end(const PolicyRule& rule, schema::EventObject object, const NameAnswers& answers) {
  bool covered = covers(rule.selector, object, &answers) == Coverage::kCovered;
  if (object.new_path) {
    object.path = object.new_path;
    covered = covered || covers(rule.selector, object, &answers) == Coverage::kCovered;
  }
  return covered;
}

// A deny rule of the same operation outranks whatever allow rule was cited.
bool is_outranked(const Requirement& requirement, const Event& event, const NameAnswers& answers) {
  return std::any_of(requirement.rules.begin(), requirement.rules.end(),
                     [&](const PolicyRule& rule) {
                       return rule.effect == schema::RuleEffect::kDeny && governs(rule, event) &&
                              covers_an_end(rule, event.object, answers);
                     });
}

}  // namespace

std::int64_t DomainActivity::policy_denials() const {
  return decisions[index_of(DecisionOutcome::kDenied)][index_of(DecisionCause::kPolicy)];
}

std::int64_t DomainActivity::total_decisions() const {
  std::int64_t total = 0;
  for (const auto& by_cause : decisions) {
    total = std::accumulate(by_cause.begin(), by_cause.end(), total, add_saturating);
  }
  return total;
}

void DomainActivity::note_object(const Event& event) {
  if (event.object.type == schema::ObjectType::kUnlisted) {
    unlisted = add_saturating(unlisted, event.count);
  }
}

const DomainActivity& RunFacts::activity(schema::Domain domain) const {
  return activity_.at(index_of(domain));
}

bool RunFacts::is_workload(const RecordMark& mark) const {
  return mark.trustworthy() && opened_ && opened_->mark.signer_ok && started_ &&
         started_->mark.trustworthy() && started_->mark.seq < mark.seq;
}

void RunFacts::count_batch(const RecordMark& mark, const schema::EventBatch& batch) {
  if (!started_) {
    log_.note(ContradictionCode::kActivityBeforeStart, mark.seq, "a batch of events");
  }
  totals_.dropped = add_saturating(totals_.dropped, batch.dropped);
  for (const Event& event : batch.events) {
    if (event.number != totals_.next_number) {
      totals_.contiguous = false;
      log_.note(ContradictionCode::kEventNumbersNotContiguous, mark.seq,
                "event " + std::to_string(event.number) + " where " +
                    std::to_string(totals_.next_number) + " was due");
    }
    // Going on from what stands there reports one gap once.
    totals_.next_number = add_saturating(std::max<std::int64_t>(event.number, 0), 1);
    totals_.events = add_saturating(totals_.events, 1);
    totals_.actions = add_saturating(totals_.actions, event.count);
    if (event.nested_filter && !totals_.first_nested_filter) {
      totals_.first_nested_filter = event.number;
    }
  }
  check_counts(mark);
}

void RunFacts::on(const RecordMark& mark, const schema::DecisionBatch& body) {
  count_batch(mark, body);
  for (const Event& event : body.events) {
    judge_decision(mark, event);
  }
}

void RunFacts::on(const RecordMark& mark, const schema::ObservationBatch& body) {
  count_batch(mark, body);
  if (!is_workload(mark)) {
    return;
  }
  for (const Event& event : body.events) {
    DomainActivity& activity = activity_.at(index_of(event.domain));
    activity.observations = add_saturating(activity.observations, event.count);
    activity.note_object(event);
  }
}

void RunFacts::judge_decision(const RecordMark& mark, const Event& event) {
  DomainActivity& activity = activity_.at(index_of(event.domain));
  const auto failed = first_failed_conjunct({*this, mark, event, true});
  const bool policy_denial =
      event.outcome == DecisionOutcome::kDenied && event.cause == DecisionCause::kPolicy;
  if (!failed) {
    activity.denied = add_saturating(activity.denied, event.count);
    std::int64_t& by_rule = activity.denied_by_rule[event.rule];
    by_rule = add_saturating(by_rule, event.count);
  } else if (policy_denial) {
    std::int64_t& uncounted = activity.denied_uncounted.at(index_of(*failed));
    uncounted = add_saturating(uncounted, event.count);
  }
  if (!is_workload(mark)) {
    return;
  }
  std::int64_t& seen = activity.decisions.at(index_of(event.outcome)).at(index_of(event.cause));
  seen = add_saturating(seen, event.count);
  activity.note_object(event);
  if (event.outcome == DecisionOutcome::kDenied && event.cause != DecisionCause::kCompat) {
    activity.denials.add(event);
    if (policy_ && policy_->body.witness) {
      denied_files_.add(event);
    }
  }
  if (failed && is_evaluation(event.cause) && requirement(event.domain) != nullptr &&
      !is_self_protection_rule(*this, event.rule)) {
    activity.evaluated = add_saturating(activity.evaluated, event.count);
  }
  if (event.domain == schema::Domain::kNameResolution && event.operation == "resolve" &&
      event.outcome == DecisionOutcome::kAllowed) {
    note_answers(event.object, name_answers_);
  }
  check_allowed(mark, event);
  check_denied(mark, event);
}

void RunFacts::check_allowed(const RecordMark& mark, const Event& event) {
  const schema::RequirementOutcome* planned = outcome(event.domain);
  const bool enforced = planned != nullptr && planned->kind == schema::OutcomeKind::kEnforced &&
                        opened_->body.enforcement_mode == "enforce";
  if (event.outcome != DecisionOutcome::kAllowed || event.cause == DecisionCause::kCompat ||
      !enforced) {
    return;
  }
  const std::string where = name_of(event.domain) + ", event " + std::to_string(event.number) +
                            ", rule " + shown(event.rule);
  const Requirement* stated = requirement(event.domain);
  const CitedRule cited = stated == nullptr ? CitedRule{} : look_up(*stated, event, name_answers_);
  if (!cited.found) {
    // The default rule of a list is what a denial cites: it never allows.
    const bool is_default = stated != nullptr && stated->default_rule == event.rule;
    log_.note(is_default ? ContradictionCode::kAllowedByDenyRule
                         : ContradictionCode::kAllowedByUnknownRule,
              mark.seq, where);
    return;
  }
  if (cited.denies || is_outranked(*stated, event, name_answers_)) {
    log_.note(ContradictionCode::kAllowedByDenyRule, mark.seq, where);
    return;
  }
  switch (cited.coverage) {
    case Coverage::kCovered:
      return;
    case Coverage::kNotCovered:
      log_.note(ContradictionCode::kAllowedOutsideRule, mark.seq, where);
      return;
    case Coverage::kUndecided:
      undecided_coverage_ = add_saturating(undecided_coverage_, 1);
      return;
  }
}

}  // namespace aasm::claims
