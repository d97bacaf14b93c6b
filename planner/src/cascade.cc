#include "aasm/planner/cascade.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

#include "aasm/schema/utf8.h"

#include "cascade_cuts.h"
#include "cascade_domain.h"

namespace aasm::planner {
namespace {

using schema::Domain;
using schema::PolicyGap;
using schema::PolicyState;
using schema::Requirement;
using schema::RequirementPosture;
using schema::RuleEffect;
using schema::SelectorType;

// Nodes whose gap says "not stated": it holds for the policy when it holds for every document.
bool says_not_stated(const PolicyGap& gap) {
  static const std::set<std::string> nodes = {"filesystem.read",    "filesystem.write",
                                              "filesystem.execute", "network",
                                              "name_resolution",    "syscalls",
                                              "processes",          "ipc",
                                              "credentials",        "credentials.environment",
                                              "resources",          "credentials.descriptors"};
  return gap.domain && nodes.count(gap.node) != 0 && gap.reason.starts_with("not stated");
}

int strictness(RequirementPosture posture) {
  switch (posture) {
    case RequirementPosture::kOptional:
      return 0;
    case RequirementPosture::kDegradeIfUnavailable:
      return 1;
    case RequirementPosture::kRequired:
      return 2;
  }
  return 2;
}

// Denials are looked at for all documents together.
bool names_denial(const std::string& node) {
  return node.starts_with("filesystem.deny") || node.starts_with("filesystem.read.deny") ||
         node.starts_with("filesystem.write.deny");
}

class Cascade {
 public:
  Cascade(std::vector<CascadeMember> members, const PathResolver& resolve,
          const GroupMembers& groups)
      : members_(std::move(members)), groups_(groups) {
    std::sort(members_.begin(), members_.end(),
              [](const auto& a, const auto& b) { return a.scope < b.scope; });
    find_denials(resolve);
  }

  LoweredPolicy run() {
    for (const auto& entry : schema::EnumNames<Domain>::kTokens) {
      add_domain(entry.first);
    }
    add_call_denials();
    add_witness();
    note_denied_calls();
    add_gaps();
    for (const CascadeMember& member : members_) {
      for (const PolicyGap& one : member.lowered.unmapped) {
        out_.unmapped.push_back({one.domain, scoped(member.scope, one.node), one.reason});
      }
    }
    take_credentials();
    out_.state = state();
    return std::move(out_);
  }

 private:
  void find_denials(const PathResolver& resolve) {
    for (const CascadeMember& member : members_) {
      const std::optional<FilesystemNode>& files = member.document->filesystem;
      if (!files) {
        continue;
      }
      const NoteDenial note = [&](const std::string& node, Position, bool problem,
                                  std::string text) {
        if (!problem) {  // a problem was one of the document by itself
          out_.gaps.push_back({std::nullopt, scoped(member.scope, node), std::move(text)});
        }
      };
      for (PathDenial& denial : denials_of(*files, resolve, note)) {
        denial.id = scoped(member.scope, denial.id);
        denials_.add(std::move(denial));
      }
    }
  }

  void add_domain(Domain domain) {
    std::vector<DomainStatement> statements;
    for (const CascadeMember& member : members_) {
      for (const Requirement& one : member.lowered.requirements) {
        if (one.domain == domain) {
          statements.push_back({&member, &one});
        }
      }
    }
    if (statements.empty()) {
      return;
    }
    const NoteGap gap = [&](const std::string& node, std::string reason) {
      out_.gaps.push_back({domain, node, std::move(reason)});
    };
    Requirement both = intersect_domain(statements, denials_, groups_, gap);
    both.posture = posture_of(statements);
    both.evidence = std::max(both.evidence, wished_for(domain));
    if (domain == Domain::kNetworkEgress && a_document_kills()) {
      both.on_denial = "kill";
    }
    out_.requirements.push_back(std::move(both));
    add_place(*statements.back().member, domain);
  }

  // The nearest document that speaks of the domain stands for it in messages.
  void add_place(const CascadeMember& member, Domain domain) {
    if (const DomainPlace* place = place_on(member.lowered.places, domain)) {
      out_.places.push_back({domain, scoped(member.scope, place->node), place->at});
    }
  }

  RequirementPosture posture_of(const std::vector<DomainStatement>& statements) const {
    RequirementPosture strictest = statements.front().requirement->posture;
    const auto add = [&](RequirementPosture posture) {
      strictest = strictness(posture) > strictness(strictest) ? posture : strictest;
    };
    for (const DomainStatement& statement : statements) {
      add(statement.requirement->posture);
    }
    for (const CascadeMember& member : members_) {
      const PostureNode& node = member.document->posture;
      const auto stated = node.domains.find(statements.front().requirement->domain);
      if (stated != node.domains.end()) {
        add(stated->second);
      } else if (node.fallback_stated) {
        add(node.fallback);
      }
    }
    return strictest;
  }

  bool a_document_kills() const {
    return std::any_of(members_.begin(), members_.end(), [](const CascadeMember& member) {
      return member.document->network && member.document->network->kills;
    });
  }

  // Of documents that state a wish and do not speak of the files themselves.
  schema::EvidenceWish wished_for(Domain domain) const {
    schema::EvidenceWish wish = schema::EvidenceWish::kSetup;
    for (const CascadeMember& member : members_) {
      wish = std::max(wish, member.document->evidence.wish(domain));
    }
    return wish;
  }

  void add_witness() {
    for (const CascadeMember& member : members_) {
      out_.witness = std::max(out_.witness, member.lowered.witness);
    }
  }

  // A document may deny calls and leave the list of those allowed to another.
  void add_call_denials() {
    const auto calls =
        std::find_if(out_.requirements.begin(), out_.requirements.end(),
                     [](const Requirement& one) { return one.domain == Domain::kSyscall; });
    for (const CascadeMember& member : members_) {
      const std::optional<SyscallsNode>& node = member.document->syscalls;
      if (calls == out_.requirements.end() || !node) {
        continue;
      }
      out_.on_denial = node->on_denial == "kill" ? node->on_denial : out_.on_denial;
      const bool alone = node->deny && !node->allow;
      for (const TextEntry& entry : alone ? node->deny->entries : std::vector<TextEntry>()) {
        schema::PolicyRule rule;
        rule.id = scoped(member.scope, "syscalls.deny[" + std::to_string(entry.index) + "]");
        rule.effect = RuleEffect::kDeny;
        rule.operation = "call";
        rule.selector = {SelectorType::kSyscall, schema::PathBytes(entry.text)};
        rule.line = entry.at.line;
        rule.column = entry.at.column;
        calls->rules.push_back(std::move(rule));
      }
    }
  }

  // Of grants that a broader scope denies by name, the nearer one is told.
  void note_denied_calls() {
    const Requirement* calls = requirement_on(out_.requirements, Domain::kSyscall);
    if (calls != nullptr) {
      note_outranked(*calls, members_, groups_, [&](const std::string& node, std::string reason) {
        out_.gaps.push_back({Domain::kSyscall, node, std::move(reason)});
      });
    }
  }

  // True when each document leaves the node open, by itself or with the whole of its domain.
  bool everywhere(const PolicyGap& gap) const {
    return std::all_of(members_.begin(), members_.end(), [&](const CascadeMember& member) {
      const auto same = [&](const PolicyGap& one) { return one.node == gap.node; };
      const auto whole = [&](const Requirement& one) { return one.domain == *gap.domain; };
      const std::vector<PolicyGap>& gaps = member.lowered.gaps;
      const std::vector<Requirement>& all = member.lowered.requirements;
      return std::any_of(gaps.begin(), gaps.end(), same) ||
             std::none_of(all.begin(), all.end(), whole);
    });
  }

  void add_gaps() {
    std::set<std::string> seen;
    for (const CascadeMember& member : members_) {
      for (const PolicyGap& one : member.lowered.gaps) {
        if (says_not_stated(one)) {
          if (everywhere(one) && seen.insert(one.node).second) {
            out_.gaps.push_back(one);
          }
        } else if (!names_denial(one.node)) {
          out_.gaps.push_back({one.domain, scoped(member.scope, one.node), one.reason});
        }
      }
    }
    for (const PathDenial* denial : denials_.unused()) {
      out_.gaps.push_back({std::nullopt, denial->id,
                           "`" + schema::escape_for_display(denial->path) +
                               "` lies in no grant that is left, so the default denies it"});
    }
  }

  void take_credentials() {
    const Requirement* credentials = requirement_on(out_.requirements, Domain::kCredential);
    if (credentials == nullptr) {
      return;
    }
    for (const CascadeMember& member : members_) {
      if (member.lowered.credentials.environment && !out_.credentials.environment) {
        out_.credentials.environment.emplace();
      }
      if (member.lowered.credentials.descriptors && !out_.credentials.descriptors) {
        out_.credentials.descriptors.emplace();
      }
    }
    for (const schema::PolicyRule& rule : credentials->rules) {
      if (rule.selector.type == SelectorType::kEnvironmentName) {
        out_.credentials.environment->push_back(rule.selector.value.bytes());
      } else {
        const std::string& text = rule.selector.value.bytes();
        int number = 0;
        std::from_chars(text.data(), text.data() + text.size(), number);
        out_.credentials.descriptors->push_back(number);
      }
    }
  }

  PolicyState state() const {
    const auto any = [&](PolicyState state) {
      return std::any_of(members_.begin(), members_.end(),
                         [&](const CascadeMember& one) { return one.lowered.state == state; });
    };
    return any(PolicyState::kEnforced)     ? PolicyState::kEnforced
           : any(PolicyState::kPermissive) ? PolicyState::kPermissive
                                           : PolicyState::kUnconfigured;
  }

  std::vector<CascadeMember> members_;
  const GroupMembers& groups_;
  PathDenials denials_;
  LoweredPolicy out_;
};

}  // namespace

std::string scoped(schema::PolicyScope scope, const std::string& node) {
  return std::string(token(scope)) + ":" + node;
}

LoweredPolicy intersect_policies(std::vector<CascadeMember> members, const PathResolver& resolve,
                                 const GroupMembers& groups) {
  return Cascade(std::move(members), resolve, groups).run();
}

std::vector<SourceProblem> unmatched_halves(const std::vector<CascadeMember>& members) {
  bool files = false;
  bool calls = false;
  for (const CascadeMember& one : members) {
    files = files || (one.document->filesystem &&
                      (one.document->filesystem->read || one.document->filesystem->write));
    calls = calls || (one.document->syscalls && one.document->syscalls->allow);
  }
  std::vector<SourceProblem> problems;
  for (const CascadeMember& one : members) {
    for (Problem& problem : missing_halves(*one.document)) {
      const bool of_files = problem.text.starts_with("filesystem");
      if (of_files ? !files : !calls) {
        problems.push_back({one.source, problem.at, std::move(problem.text)});
      }
    }
  }
  return problems;
}

}  // namespace aasm::planner
