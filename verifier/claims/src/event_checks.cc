#include <algorithm>

#include "aasm/claims/facts.h"
#include "aasm/schema/json_value.h"

#include "coverage.h"
#include "text.h"

namespace aasm::claims {
namespace {

using schema::DecisionCause;
using schema::DecisionOutcome;
using schema::Event;
using schema::PolicyRule;
using schema::Requirement;
using schema::RuleEffect;
using schema::SelectorType;

constexpr std::int64_t kMaxErrno = 4095;  // MAX_ERRNO of the kernel

// Selectors that decide by themselves. A path may be refused for what is done to it besides, so a
// denial of one says nothing against a rule that covers it.
bool decides_alone(SelectorType type, schema::ObjectType object) {
  switch (type) {
    case SelectorType::kSyscall:
    case SelectorType::kEnvironmentName:
    case SelectorType::kDescriptor:
      return true;
    case SelectorType::kWhole:
    case SelectorType::kHostPattern:
    case SelectorType::kAddressRange:
    case SelectorType::kPort:
      return object == schema::ObjectType::kAddress;
    case SelectorType::kPathPrefix:
    case SelectorType::kSocketPath:
    case SelectorType::kLimit:
      return false;
  }
  return false;
}

bool covered_by(const Requirement& requirement, const Event& event, RuleEffect effect,
                const NameAnswers& answers) {
  return std::any_of(requirement.rules.begin(), requirement.rules.end(),
                     [&](const PolicyRule& rule) {
                       return rule.effect == effect && rule.operation == event.operation &&
                              decides_alone(rule.selector.type, event.object.type) &&
                              covers(rule.selector, event.object, &answers) == Coverage::kCovered;
                     });
}

// Policy names the calls of this machine; one by another table is another call.
bool is_foreign(const RunFacts& facts, const Event& event) {
  return !event.object.arch.empty() && event.object.arch != facts.opened()->body.host.machine;
}

}  // namespace

void RunFacts::check_denied(const RecordMark& mark, const Event& event) {
  if (event.outcome != DecisionOutcome::kDenied) {
    return;
  }
  const std::string where = name_of(event.domain) + ", event " + std::to_string(event.number);
  if (event.reply == schema::ReplyState::kAccepted &&
      (event.os_errno < 1 || event.os_errno > kMaxErrno)) {
    log_.note(ContradictionCode::kDeniedWithoutErrno, mark.seq,
              where + ", errno " + std::to_string(event.os_errno));
  }
  const Requirement* stated = requirement(event.domain);
  const schema::RequirementOutcome* planned = outcome(event.domain);
  if (event.cause == DecisionCause::kPolicy && stated != nullptr &&
      stated->names_rule(event.rule) && planned != nullptr &&
      planned->kind == schema::OutcomeKind::kObserved) {
    log_.note(ContradictionCode::kDeniedWhileObserving, mark.seq,
              where + ", rule " + shown(event.rule));
  }
  if (event.cause == DecisionCause::kPolicy && stated != nullptr &&
      stated->names_rule(event.rule) && !is_foreign(*this, event) &&
      covered_by(*stated, event, RuleEffect::kAllow, name_answers_) &&
      !covered_by(*stated, event, RuleEffect::kDeny, name_answers_)) {
    log_.note(ContradictionCode::kDeniedAgainstPolicy, mark.seq,
              where + ", rule " + shown(event.rule));
  }
}

void RunFacts::check_counts(const RecordMark& mark) {
  if (totals_.actions == schema::kJsonMaxInteger || totals_.dropped == schema::kJsonMaxInteger ||
      totals_.next_number == schema::kJsonMaxInteger) {
    log_.note(ContradictionCode::kEventCountOverflow, mark.seq,
              "the counts of the batches so far reach " + std::to_string(schema::kJsonMaxInteger));
  }
}

}  // namespace aasm::claims
