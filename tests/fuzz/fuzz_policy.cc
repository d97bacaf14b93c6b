#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "aasm/planner/cascade.h"
#include "aasm/planner/lower.h"
#include "aasm/planner/policy_decode.h"
#include "aasm/planner/selector.h"

// Any bytes as a policy document: no crash, no unbounded work, and these hold:
//   a document or problems, never both and never neither;
//   places count from 1, messages are one line without control characters;
//   what was read lowers to requirements that their own check() accepts, one a domain, and so does
//   a policy that is the document twice, which grants nothing that the document does not.
namespace {

void require(bool condition) {
  if (!condition) {
    std::abort();
  }
}

void check_problem(const aasm::planner::Problem& problem) {
  require(problem.at.line >= 1 && problem.at.column >= 1 && !problem.text.empty());
  for (const char c : problem.text) {
    require(static_cast<unsigned char>(c) >= 0x20 && c != 0x7F);
  }
}

void check_requirements(const aasm::planner::LoweredPolicy& lowered) {
  const aasm::schema::Requirement* before = nullptr;
  for (const aasm::schema::Requirement& requirement : lowered.requirements) {
    require(requirement.check().has_value());
    require(before == nullptr || before->domain < requirement.domain);
    for (const aasm::schema::PolicyRule& rule : requirement.rules) {
      require(rule.check().has_value() && rule.selector.check().has_value());
    }
    before = &requirement;
  }
}

// The document as two of one policy: what each of them allows is what it allows, so no
// grant may go further.
aasm::planner::LoweredPolicy twice(const aasm::planner::PolicyDocument& document,
                                   const aasm::planner::LoweredPolicy& alone) {
  using aasm::schema::PolicyScope;
  aasm::planner::LoweredPolicy both = aasm::planner::intersect_policies(
      {{PolicyScope::kOrg, "a", &document, alone}, {PolicyScope::kAgent, "b", &document, alone}},
      nullptr, {});
  require(both.requirements.size() == alone.requirements.size());
  for (std::size_t i = 0; i < both.requirements.size(); ++i) {
    for (const aasm::schema::PolicyRule& rule : both.requirements[i].rules) {
      const auto& rules = alone.requirements[i].rules;
      require(rule.effect == aasm::schema::RuleEffect::kDeny ||
              std::any_of(rules.begin(), rules.end(), [&](const auto& one) {
                return one.effect == aasm::schema::RuleEffect::kAllow &&
                       aasm::planner::contains(one.selector, rule.selector);
              }));
    }
  }
  return both;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // SAFETY: char may alias any object; the view lives for this call.
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const aasm::planner::DecodedPolicy decoded =
      aasm::planner::decode_policy(text, {{"/work", "/home/u"}, nullptr});
  require(decoded.document.has_value() == decoded.problems.empty());
  for (const aasm::planner::Problem& problem : decoded.problems) {
    check_problem(problem);
  }
  if (!decoded.document) {
    return 0;
  }
  const aasm::planner::LoweredPolicy lowered =
      aasm::planner::lower_policy(*decoded.document, nullptr);
  require(lowered.problems.empty());
  check_requirements(lowered);
  check_requirements(twice(*decoded.document, lowered));
  return 0;
}
