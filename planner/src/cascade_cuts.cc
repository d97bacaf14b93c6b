#include "cascade_cuts.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

#include "aasm/schema/utf8.h"

namespace aasm::planner {
namespace {

using schema::PolicyRule;
using schema::RuleEffect;
using schema::Selector;

// Each is one gap of the record; the rest of a list is counted.
constexpr std::size_t kMostCuts = 32;
constexpr std::size_t kMostLeft = 3;
constexpr std::size_t kLongestShown = 160;

std::string shown(const Selector& selector) {
  const std::string& text = selector.value.bytes();
  return "`" + schema::escape_for_display(text.substr(0, kLongestShown)) +
         (text.size() > kLongestShown ? "..." : "") + "`";
}

std::string placed(const std::string& node, const CascadeMember& member,
                   std::optional<std::int64_t> line) {
  std::string text = node + " (" + schema::escape_for_display(member.source);
  return text + (line ? " line " + std::to_string(*line) : "") + ")";
}

// The list of a document that a grant was held against.
std::string list_of(const StatedGrants& stated) {
  const CascadeMember& member = *stated.member;
  std::string node = scoped(member.scope, stated.requirement->default_rule);
  const DomainPlace* place = place_on(member.lowered.places, stated.requirement->domain);
  std::optional<std::int64_t> line;
  if (place != nullptr && place->at.line > 0) {
    line = place->at.line;
  }
  if (!stated.grants.empty()) {
    const PolicyRule& first = stated.grants.front();
    node = first.id.substr(0, first.id.find('['));
    line = place != nullptr && scoped(member.scope, place->node) == node ? line : first.line;
  }
  return placed(node, member, line);
}

bool leaves_whole(const Selector& grant, const StatedGrants& broader, const GroupMembers& groups) {
  std::vector<Selector> all;
  all.reserve(broader.grants.size());
  for (const PolicyRule& rule : broader.grants) {
    all.push_back(rule.selector);
  }
  return covered_by(grant, all, groups);
}

std::string left_of(const Selector& grant, const Rules& common, const GroupMembers& groups) {
  std::string text;
  std::size_t count = 0;
  for (const PolicyRule& rule : common) {
    if (contains(grant, rule.selector, groups) && ++count <= kMostLeft) {
      text += (text.empty() ? "" : ", ") + shown(rule.selector);
    }
  }
  if (count > kMostLeft) {
    text += " and " + std::to_string(count - kMostLeft) + " more";
  }
  return text.empty() ? "nothing of it is left" : "what is left of it is " + text;
}

// Execution that follows reading is cut where reading is; the whole stands for what is not stated.
bool is_its_own(const PolicyRule& grant) {
  return !grant.id.ends_with(".execute") && grant.selector.type != schema::SelectorType::kWhole;
}

// The broadest of the documents before `nearer` that does not give `grant` whole.
const StatedGrants* who_cuts(const PolicyRule& grant, const std::vector<StatedGrants>& stated,
                             std::size_t nearer, const GroupMembers& groups) {
  for (std::size_t i = 0; i < nearer; ++i) {
    if (!leaves_whole(grant.selector, stated[i], groups)) {
      return &stated[i];
    }
  }
  return nullptr;
}

}  // namespace

void note_cuts(const std::vector<StatedGrants>& stated, const Rules& common,
               const GroupMembers& groups, const NoteGap& gap) {
  std::set<std::pair<schema::SelectorType, std::string>> whole;
  for (const PolicyRule& rule : common) {
    whole.emplace(rule.selector.type, rule.selector.value.bytes());
  }
  for (std::size_t i = 1; i < stated.size(); ++i) {
    std::size_t cuts = 0;
    for (const PolicyRule& grant : stated[i].grants) {
      if (!is_its_own(grant) ||
          whole.count({grant.selector.type, grant.selector.value.bytes()}) != 0) {
        continue;
      }
      const StatedGrants* by = who_cuts(grant, stated, i, groups);
      if (by != nullptr && ++cuts <= kMostCuts) {
        const bool entry = grant.id.ends_with(']');  // has a place by its id
        const std::string what = shown(grant.selector);
        gap(grant.id, (entry ? what : placed(what, *stated[i].member, grant.line)) + " is cut by " +
                          list_of(*by) + ": " + left_of(grant.selector, common, groups));
      }
    }
    if (cuts > kMostCuts) {
      gap(list_of(stated[i]), std::to_string(cuts - kMostCuts) + " more entries are cut");
    }
  }
}

void note_outranked(const schema::Requirement& whole, const std::vector<CascadeMember>& members,
                    const GroupMembers& groups, const NoteGap& gap) {
  const auto member_of = [&](const PolicyRule& rule) {
    return std::find_if(members.begin(), members.end(), [&](const CascadeMember& one) {
      return rule.id.starts_with(scoped(one.scope, ""));
    });
  };
  std::size_t cuts = 0;
  for (const PolicyRule& denial : whole.rules) {
    const auto by = member_of(denial);
    if (denial.effect != RuleEffect::kDeny || by == members.end()) {
      continue;
    }
    for (const PolicyRule& grant : whole.rules) {
      const bool nearer = grant.effect == RuleEffect::kAllow && by < member_of(grant);
      if (nearer && contains(denial.selector, grant.selector, groups) && ++cuts <= kMostCuts) {
        gap(grant.id, shown(grant.selector) + " is cut by " + placed(denial.id, *by, denial.line) +
                          ": nothing of it is left");
      }
    }
  }
}

}  // namespace aasm::planner
