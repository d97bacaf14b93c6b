#include "cascade_domain.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace aasm::planner {
namespace {

using schema::Domain;
using schema::PolicyRule;
using schema::Requirement;
using schema::RuleEffect;
using schema::Selector;
using schema::SelectorType;

// A part of a domain that a document states or leaves open by itself.
struct Facet {
  std::string operation;
  SelectorType type = SelectorType::kWhole;  // whole: of any type

  bool holds(const PolicyRule& rule) const {
    return rule.operation == operation &&
           (type == SelectorType::kWhole || rule.selector.type == type);
  }
};

bool is_filesystem(Domain domain) {
  return domain == Domain::kFilesystemRead || domain == Domain::kFilesystemWrite;
}

bool has_rule(const Requirement& requirement, const Facet& facet) {
  return std::any_of(requirement.rules.begin(), requirement.rules.end(),
                     [&](const PolicyRule& rule) { return facet.holds(rule); });
}

// Operations that the rules do not speak of: stated (and empty) in some domains, open in others.
bool states(const DomainStatement& statement, const Facet& facet) {
  const Requirement& requirement = *statement.requirement;
  const CredentialGrants& credentials = statement.member->lowered.credentials;
  switch (requirement.domain) {
    case Domain::kCredential:
      return facet.type == SelectorType::kEnvironmentName ? credentials.environment.has_value()
                                                          : credentials.descriptors.has_value();
    case Domain::kIpc:
      return has_rule(requirement, facet) ||
             (facet.operation == "connect" && statement.member->document->ipc->unix_sockets);
    case Domain::kResource:
      return has_rule(requirement, facet);
    case Domain::kFilesystemRead:
      return facet.operation == "read" || has_rule(requirement, facet) || requirement.rules.empty();
    case Domain::kFilesystemWrite:
    case Domain::kNetworkEgress:
    case Domain::kNameResolution:
    case Domain::kSyscall:
    case Domain::kProcessCreation:
      return true;
  }
  return true;
}

std::vector<Facet> facets_of(const std::vector<DomainStatement>& statements) {
  const Domain domain = statements.front().requirement->domain;
  if (domain == Domain::kCredential) {
    return {{"inherit", SelectorType::kEnvironmentName}, {"inherit", SelectorType::kDescriptor}};
  }
  std::vector<Facet> facets;
  if (domain == Domain::kFilesystemRead) {
    facets.push_back({"read"});
  }
  for (const DomainStatement& statement : statements) {
    for (const PolicyRule& rule : statement.requirement->rules) {
      const bool known = std::any_of(facets.begin(), facets.end(), [&](const Facet& facet) {
        return facet.operation == rule.operation;
      });
      if (!known) {
        facets.push_back({rule.operation});
      }
    }
  }
  return facets;
}

bool denied_whole(const Requirement& requirement, const Facet& facet) {
  return std::any_of(requirement.rules.begin(), requirement.rules.end(), [&](const auto& rule) {
    return facet.holds(rule) && rule.effect == RuleEffect::kDeny &&
           rule.selector.type == SelectorType::kWhole;
  });
}

// The grants of one document, under their names in the whole policy. Where execution is not stated
// it follows reading.
Rules grants_of(const DomainStatement& statement, const Facet& facet) {
  Rules grants;
  if (denied_whole(*statement.requirement, facet)) {
    return grants;
  }
  const bool follows = facet.operation == "execute" && !has_rule(*statement.requirement, facet);
  const Facet source = follows ? Facet{"read"} : facet;
  for (const PolicyRule& rule : statement.requirement->rules) {
    if (rule.effect == RuleEffect::kAllow && source.holds(rule)) {
      PolicyRule grant = rule;
      grant.id = scoped(statement.member->scope, rule.id) + (follows ? ".execute" : "");
      grant.operation = facet.operation;
      grants.push_back(std::move(grant));
    }
  }
  return grants;
}

// The narrower of the two gives its name; a call that is in two groups and in neither alone has
// that of its group and its own.
PolicyRule named_after(const PolicyRule& a, const PolicyRule& b, const Selector& both) {
  PolicyRule rule = both == a.selector && both != b.selector ? a : b;
  if (both != a.selector && both != b.selector) {
    rule.id += "." + both.value.bytes();
  }
  rule.selector = both;
  return rule;
}

Rules common_grants(const Rules& one, const Rules& other, const GroupMembers& groups) {
  Rules common;
  std::set<std::pair<SelectorType, std::string>> seen;
  for (const PolicyRule& a : one) {
    for (const PolicyRule& b : other) {
      for (const Selector& both : intersect(a.selector, b.selector, groups)) {
        if (seen.emplace(both.type, both.value.bytes()).second) {
          common.push_back(named_after(a, b, both));
        }
      }
    }
  }
  return common;
}

class DomainIntersection {
 public:
  DomainIntersection(const std::vector<DomainStatement>& statements, PathDenials& denials,
                     const GroupMembers& groups, const NoteGap& gap)
      : statements_(statements), denials_(denials), groups_(groups), gap_(gap) {}

  Requirement run() {
    out_.domain = statements_.front().requirement->domain;
    std::set<std::string> names;
    for (const DomainStatement& statement : statements_) {
      const std::string name = scoped(statement.member->scope, statement.requirement->default_rule);
      if (names.insert(name).second) {
        out_.default_rule += (out_.default_rule.empty() ? "" : "+") + name;
      }
      out_.evidence = std::max(out_.evidence, statement.requirement->evidence);
    }
    for (const Facet& facet : facets_of(statements_)) {
      add_facet(facet);
    }
    return std::move(out_);
  }

 private:
  void add_facet(const Facet& facet) {
    std::optional<Rules> grants;
    std::vector<StatedGrants> stated;
    for (const DomainStatement& statement : statements_) {
      // An execute list that no document states is left out: execution follows the common reads.
      const bool follows = facet.operation == "execute";
      if (states(statement, facet) || follows) {
        Rules own = grants_of(statement, facet);
        stated.push_back({statement.member, statement.requirement, own});
        grants = grants ? common_grants(*grants, own, groups_) : std::move(own);
      }
    }
    note_cuts(stated, grants.value_or(Rules()), groups_, gap_);
    const std::size_t before = out_.rules.size();
    for (PolicyRule& grant : grants.value_or(Rules())) {
      add_grant(std::move(grant));
    }
    add_denials(facet, before);
    if (facet.operation == "execute" && out_.rules.size() == before) {
      // Without a rule of its own it would read as "not stated".
      PolicyRule none;
      none.id = out_.default_rule + ".execute";
      none.effect = RuleEffect::kDeny;
      none.operation = facet.operation;
      out_.rules.push_back(std::move(none));
    }
  }

  void add_grant(PolicyRule grant) {
    const PathDenial* denial =
        is_filesystem(out_.domain)
            ? denials_.covering(grant.operation, grant.selector.value.bytes())
            : nullptr;
    if (denial != nullptr) {
      return gap_(grant.id, "outranked by " + denial->id + "; nothing is granted");
    }
    out_.rules.push_back(std::move(grant));
  }

  void add_denials(const Facet& facet, std::size_t before) {
    if (is_filesystem(out_.domain)) {
      denials_.add_rules(out_, facet.operation, before);
    }
    std::set<std::pair<SelectorType, std::string>> seen;
    for (const DomainStatement& statement : statements_) {
      for (const PolicyRule& rule : statement.requirement->rules) {
        const bool path = rule.selector.type == SelectorType::kPathPrefix;
        if (rule.effect == RuleEffect::kDeny && facet.holds(rule) && !path &&
            seen.emplace(rule.selector.type, rule.selector.value.bytes()).second) {
          out_.rules.push_back(rule);
          out_.rules.back().id = scoped(statement.member->scope, rule.id);
        }
      }
    }
  }

  const std::vector<DomainStatement>& statements_;
  PathDenials& denials_;
  const GroupMembers& groups_;
  const NoteGap& gap_;
  Requirement out_;
};

}  // namespace

Requirement intersect_domain(const std::vector<DomainStatement>& statements, PathDenials& denials,
                             const GroupMembers& groups, const NoteGap& gap) {
  return DomainIntersection(statements, denials, groups, gap).run();
}

}  // namespace aasm::planner
