#include "policy_change.h"

#include <algorithm>
#include <map>
#include <utility>

#include "aasm/planner/paths.h"
#include "aasm/schema/enum_names.h"
#include "aasm/schema/utf8.h"

namespace aasm::cli {
namespace {

using planner::Addition;
using schema::Domain;
using schema::PolicyRule;
using schema::Requirement;

Domain domain_of(const std::vector<std::string>& list) {
  if (list.front() == "filesystem") {
    return list[1] == "write" ? Domain::kFilesystemWrite : Domain::kFilesystemRead;
  }
  if (list.front() == "network") {
    return Domain::kNetworkEgress;
  }
  if (list.front() == "name_resolution") {
    return Domain::kNameResolution;
  }
  return list.front() == "ipc" ? Domain::kIpc : Domain::kSyscall;
}

// A document that states no list of what may be executed goes by its list of what may be read.
Addition as_stated_by(const Requirement& requirement, Addition addition) {
  const bool executes =
      std::any_of(requirement.rules.begin(), requirement.rules.end(),
                  [](const PolicyRule& rule) { return rule.operation == "execute"; });
  if (addition.list[1] == "execute" && !executes) {
    addition.list[1] = "read";
  }
  return addition;
}

bool allows(const Requirement& requirement, const Addition& addition) {
  const bool path = addition.list.front() == "filesystem";
  return std::any_of(requirement.rules.begin(), requirement.rules.end(),
                     [&](const PolicyRule& rule) {
                       const std::string& value = rule.selector.value.bytes();
                       return rule.effect == schema::RuleEffect::kAllow &&
                              (path ? rule.operation == addition.list[1] &&
                                          planner::path_covers(value, addition.what)
                                    : value == addition.what);
                     });
}

std::vector<planner::ListEntries> entries_of(const ChangedDocument& document,
                                             AdditionComment comment) {
  std::vector<planner::ListEntries> lists;
  for (const Addition& one : document.additions) {
    if (lists.empty() || lists.back().list != one.list) {
      lists.push_back({one.list, {}});
    }
    lists.back().entries.push_back({comment(one), one.value});
  }
  return lists;
}

// How many entries a list has, by the ids of its rules.
std::size_t entries_in(const std::vector<Requirement>& requirements, const std::string& list) {
  std::size_t count = 0;
  for (const Requirement& requirement : requirements) {
    for (const PolicyRule& rule : requirement.rules) {
      if (rule.id.starts_with(list + "[")) {
        count = std::max<std::size_t>(count, std::stoul(rule.id.substr(list.size() + 1)) + 1);
      }
    }
  }
  return count;
}

std::string scope_of(const ChangedDocument& document) {
  return document.scope ? std::string(schema::token(*document.scope)) : "";
}

}  // namespace

std::vector<ChangedDocument> documents_of(const planner::ResolvedPolicy& policy) {
  std::vector<ChangedDocument> documents;
  if (policy.each.empty()) {
    documents.push_back(
        {policy.source_path, std::nullopt, policy.bytes, policy.record.requirements, {}, {}});
    return documents;
  }
  for (std::size_t i = 0; i < policy.each.size(); ++i) {
    const planner::LoadedDocument& one = policy.documents.at(i);
    documents.push_back(
        {one.path, policy.each[i].scope, one.bytes, policy.each[i].requirements, {}, {}});
  }
  std::sort(documents.begin(), documents.end(),
            [](const auto& a, const auto& b) { return a.scope < b.scope; });
  return documents;
}

void distribute(const std::vector<Addition>& additions, std::vector<ChangedDocument>& documents) {
  for (ChangedDocument& document : documents) {
    document.additions = documents.size() == 1 ? additions : std::vector<Addition>();
    for (const Addition& one : documents.size() == 1 ? std::vector<Addition>() : additions) {
      const Requirement* stated =
          planner::requirement_on(document.requirements, domain_of(one.list));
      Addition own = stated == nullptr ? one : as_stated_by(*stated, one);
      if (stated != nullptr && !allows(*stated, own)) {
        document.additions.push_back(std::move(own));
      }
    }
    std::stable_sort(document.additions.begin(), document.additions.end(),
                     [](const Addition& a, const Addition& b) { return a.list < b.list; });
  }
}

schema::Result<void> plan_change(std::vector<ChangedDocument>& documents, AdditionComment comment) {
  for (ChangedDocument& document : documents) {
    document.insertions = AASM_TRY_CONTEXT(
        planner::plan_insertions(document.text, entries_of(document, comment)), document.path);
  }
  return {};
}

std::vector<std::string> new_ids(const std::vector<ChangedDocument>& documents,
                                 const Addition& addition) {
  std::vector<std::string> ids;
  for (const ChangedDocument& document : documents) {
    const std::string scope = document.scope ? scope_of(document) + ":" : "";
    std::map<std::string, std::size_t> next;
    for (const Addition& one : document.additions) {
      const std::string list = planner::list_name(one.list);
      const auto at = next.emplace(list, entries_in(document.requirements, list)).first;
      const std::string index = std::to_string(at->second++);
      if (one.list.front() == addition.list.front() && one.value == addition.value) {
        ids.push_back(std::string(scope).append(list).append("[").append(index).append("]"));
      }
    }
  }
  return ids;
}

bool has_effect(const planner::ResolvedPolicy& changed, const Addition& addition) {
  const Requirement* stated = changed.record.requirement_for(domain_of(addition.list));
  if (addition.list.front() != "filesystem" || stated == nullptr) {
    return true;
  }
  const bool denied =
      std::any_of(stated->rules.begin(), stated->rules.end(), [&](const PolicyRule& rule) {
        return rule.effect == schema::RuleEffect::kDeny && rule.operation == addition.list[1] &&
               planner::path_covers(rule.selector.value.bytes(), addition.what);
      });
  return !denied && allows(*stated, as_stated_by(*stated, addition));
}

std::string diff_of(const std::vector<ChangedDocument>& documents) {
  std::string text;
  for (const ChangedDocument& one : documents) {
    const std::string diff = planner::unified_diff(one.text, one.insertions, one.path);
    if (!diff.empty() && one.scope) {
      text += "# scope " + scope_of(one) + ": " + schema::escape_for_display(one.path) + "\n";
    }
    text += diff;
  }
  return text;
}

}  // namespace aasm::cli
