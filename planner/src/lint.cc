#include "aasm/planner/lint.h"

#include <algorithm>
#include <set>
#include <utility>

#include "aasm/planner/environment.h"
#include "aasm/planner/grant_guard.h"
#include "aasm/planner/selector.h"
#include "aasm/schema/utf8.h"

#include "lint_places.h"

namespace aasm::planner {
namespace {

using schema::Domain;
using schema::LaunchRefusal;
using schema::PolicyRule;
using schema::Requirement;
using schema::RuleEffect;
using schema::SelectorType;

std::string shown(const std::string& text) {
  return "`" + schema::escape_for_display(text) + "`";
}

// "`/a`, `/b` and 3 more"
std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 3;
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < kShown; ++i) {
    text += (i == 0 ? "" : ", ") + shown(names[i]);
  }
  return names.size() > kShown ? text + " and " + std::to_string(names.size() - kShown) + " more"
                               : text;
}

bool every_host(const std::string& value) {
  return value == "*" || value.starts_with("*:") || value.starts_with("0.0.0.0/0:") ||
         value.starts_with("::/0:") || value.starts_with("[::/0]:") || value.starts_with("[::]/0:");
}

class Lint {
 public:
  Lint(const ResolvedPolicy& policy, const LintContext& context)
      : policy_(policy),
        context_(context),
        programs_(look_at_places(context.program_path, context.resolve)),
        startup_(look_at_places(startup_files(context.home), context.resolve)),
        credentials_(look_at_places(credential_places(context.home), context.resolve)),
        git_(look_at_places(git_programs(context.git_dirs, context.home), context.resolve)) {}

  std::vector<PolicyFinding> run() {
    state();
    if (policy_.record.state != schema::PolicyState::kEnforced) {
      return std::move(findings_);
    }
    for (const Requirement& requirement : policy_.record.requirements) {
      for (const PolicyRule& rule : requirement.rules) {
        if (rule.effect == RuleEffect::kAllow) {
          look_at(requirement, rule);
        }
      }
    }
    start_calls();
    protected_files();
    std::stable_sort(findings_.begin(), findings_.end(),
                     [](const auto& a, const auto& b) { return a.severity < b.severity; });
    return std::move(findings_);
  }

 private:
  void add(Severity severity, std::string code, const std::string& rule, std::string text) {
    SourceProblem where = statement_place(policy_, rule)
                              .value_or(SourceProblem{policy_.source_path, std::nullopt, ""});
    where.text = std::move(text);
    findings_.push_back({severity, std::move(code), rule, std::move(where)});
  }

  void state() {
    if (policy_.record.state == schema::PolicyState::kUnconfigured) {
      add(Severity::kError, "unconfigured", "",
          policy_.source_path.empty() ? "no policy is found here"
                                      : "the document states no control, so there is nothing to "
                                        "carry out");
      return;
    }
    if (policy_.record.state == schema::PolicyState::kPermissive) {
      add(Severity::kWarning, "permissive", "",
          "all that is stated allows everything; it runs only with --isolation none");
      return;
    }
    for (const Domain domain : {Domain::kFilesystemRead, Domain::kFilesystemWrite}) {
      if (policy_.record.requirement_for(domain) == nullptr) {
        add(Severity::kError, "filesystem_not_stated", "",
            std::string(token(domain)) +
                " is not stated; with isolation both reading and writing "
                "have to be");
      }
    }
  }

  void look_at(const Requirement& requirement, const PolicyRule& rule) {
    const std::string& value = rule.selector.value.bytes();
    switch (requirement.domain) {
      case Domain::kFilesystemRead:
        return look_at_read(rule);
      case Domain::kFilesystemWrite:
        return look_at_write(rule);
      case Domain::kNetworkEgress:
      case Domain::kNameResolution:
        if (rule.operation != "bind" && every_host(value)) {
          add(Severity::kWarning, "every_host", rule.id,
              rule.id + " names every host, so whatever the agent may read it may send anywhere");
        }
        return;
      case Domain::kCredential:
        if (rule.selector.type == SelectorType::kEnvironmentName && sensitive_kind(value)) {
          add(Severity::kWarning, "passes_credential", rule.id,
              rule.id + " passes " + shown(value) + ", whose name says that it is a credential");
        }
        return;
      case Domain::kSyscall:
      case Domain::kProcessCreation:
      case Domain::kIpc:
      case Domain::kResource:
        return;
    }
  }

  WalkedPath walk(const PolicyRule& rule) const {
    const schema::Result<WalkedPath> walked = context_.resolve(rule.selector.value.bytes());
    return walked ? *walked : WalkedPath();
  }

  // A user's terminals can be opened by all that runs as the user.
  void look_at_terminals(const PolicyRule& rule) {
    const std::string& granted = rule.selector.value.bytes();
    if (granted == "/" || granted == "/dev" || granted == "/dev/pts") {
      add(Severity::kWarning, "reaches_terminals", rule.id,
          rule.id +
              " lets the agent at this user's other terminals: at what is typed there, or at "
              "what is shown");
    }
  }

  void look_at_read(const PolicyRule& rule) {
    if (rule.operation != "read") {
      return;
    }
    look_at_terminals(rule);
    const std::string& granted = rule.selector.value.bytes();
    const std::vector<std::string> found = reached(granted, walk(rule), credentials_, true);
    if (!found.empty()) {
      add(Severity::kWarning, "reads_credentials", rule.id,
          rule.id + " lets the agent read where keys and tokens are kept: " + listed(found));
    }
    if (granted == "/proc" || granted == "/") {
      add(Severity::kWarning, "reads_processes", rule.id,
          rule.id + " shows the command lines and environments of this user's processes");
    }
  }

  void look_at_write(const PolicyRule& rule) {
    look_at_terminals(rule);
    const std::string& granted = rule.selector.value.bytes();
    const WalkedPath walked = walk(rule);
    const auto warn = [&](const char* code, const std::vector<std::string>& found,
                          const std::string& why) {
      if (!found.empty()) {
        add(Severity::kWarning, code, rule.id, rule.id + " " + why + ": " + listed(found));
      }
    };
    warn("writes_programs", reached(granted, walked, programs_, true),
         "lets the agent put programs where this shell looks for them (PATH)");
    warn("writes_startup_files", reached(granted, walked, startup_, true),
         "lets the agent write what starts by itself outside the boundary");
    warn("writes_git_programs", reached(granted, walked, git_, true),
         "lets the agent write what git runs outside the boundary, at the next commit or even "
         "status");
    warn("writes_credentials", reached(granted, walked, credentials_, true),
         "lets the agent write where keys and tokens are kept");
  }

  // Whether a program gets as far as its main().
  void start_calls() {
    const Requirement* calls = policy_.record.requirement_for(Domain::kSyscall);
    if (calls == nullptr || context_.vocabulary == nullptr) {
      return;
    }
    const GroupMembers groups = [&](std::string_view group) {
      return context_.vocabulary->members(group);
    };
    std::string missing;
    for (const std::string& name : context_.vocabulary->start_calls()) {
      if (!allows_call(*calls, name, groups)) {
        missing += (missing.empty() ? "" : ", ") + shown(name);
      }
    }
    if (missing.empty()) {
      return;
    }
    add(Severity::kWarning, "lacks_start_calls", first_grant(*calls),
        "the system calls that are allowed lack " + missing +
            ", without which a program that is linked at run time does not reach its main(): it "
            "dies of a signal, or says that a library cannot be loaded; `@default` has them all");
  }

  static bool allows_call(const Requirement& calls, const std::string& name,
                          const GroupMembers& groups) {
    const schema::Selector one{SelectorType::kSyscall, schema::PathBytes(name)};
    bool allowed = false;
    for (const PolicyRule& rule : calls.rules) {
      const bool covers = contains(rule.selector, one, groups);
      if (covers && rule.effect == RuleEffect::kDeny) {
        return false;
      }
      allowed = allowed || covers;
    }
    return allowed;
  }

  static std::string first_grant(const Requirement& calls) {
    return calls.rules.empty() ? std::string() : calls.rules.front().id;
  }

  // As at planning; where something is wrong, one rule at a time, so that each finding has its
  // place.
  void protected_files() {
    const PolicyView view = view_of(policy_);
    const std::vector<Requirement>& all = policy_.record.requirements;
    if (check_grants(all, context_.protect, view, context_.resolve).empty()) {
      return;
    }
    std::set<std::string> said;
    for (const Requirement& requirement : all) {
      Requirement one;
      one.domain = requirement.domain;
      for (const PolicyRule& rule : requirement.rules) {
        one.rules = {rule};
        for (const schema::Refusal& refusal :
             check_grants({one}, context_.protect, view, context_.resolve)) {
          const bool of_rule = refusal.launch != LaunchRefusal::kGrantCoversEvidence ||
                               refusal.detail.find(rule.id) != std::string::npos;
          if (said.insert(refusal.detail).second) {
            add(Severity::kError, std::string(token(refusal.launch)), of_rule ? rule.id : "",
                refusal.detail + "; " + refusal.fix);
          }
        }
      }
    }
  }

  const ResolvedPolicy& policy_;
  const LintContext& context_;
  std::vector<WatchedPlace> programs_;
  std::vector<WatchedPlace> startup_;
  std::vector<WatchedPlace> credentials_;
  std::vector<WatchedPlace> git_;
  std::vector<PolicyFinding> findings_;
};

}  // namespace

std::vector<PolicyFinding> lint_policy(const ResolvedPolicy& policy, const LintContext& context) {
  return Lint(policy, context).run();
}

}  // namespace aasm::planner
