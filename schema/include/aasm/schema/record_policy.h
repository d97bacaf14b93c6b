#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "aasm/schema/activity_vocabulary.h"
#include "aasm/schema/digest.h"
#include "aasm/schema/fields.h"
#include "aasm/schema/path_bytes.h"
#include "aasm/schema/plan_vocabulary.h"
#include "aasm/schema/vocabulary.h"

// Bodies of `policy.resolved` (docs/spec/product.md section 3; docs/spec/policy.md).
namespace aasm::schema {

// What a rule or requirement covers. `value` is a symlink-free absolute path for path_prefix, a
// name for syscall and environment_name, a decimal number for descriptor, empty for whole.
struct Selector {
  SelectorType type = SelectorType::kWhole;
  PathBytes value;

  template <class V, class S>
  static void describe(V& v, S& self) {
    v.field("type", self.type);
    v.field("value", self.value);
  }
  Result<void> check() const;
  bool operator==(const Selector&) const = default;
};

// One line of policy after lowering. `id` names the place in the document: "syscalls.deny[0]".
struct PolicyRule {
  std::string id;
  RuleEffect effect = RuleEffect::kAllow;
  std::string operation;  // read, write, execute, call, inherit
  Selector selector;
  std::optional<std::int64_t> line;                   // 1-based line in the document
  std::optional<std::int64_t> column = std::nullopt;  // 1-based, in characters; with a line only

  template <class V, class S>
  static void describe(V& v, S& self) {
    v.field("id", self.id);
    v.field("effect", self.effect);
    v.field("operation", self.operation);
    v.field("selector", self.selector);
    v.field("line", self.line);
    v.field("column", self.column);
  }
  Result<void> check() const;
};

// One requirement on one domain. `default_rule` is the id a denial cites when no rule of the list
// covers the object: the list itself ("syscalls.allow").
struct Requirement {
  Domain domain = Domain::kFilesystemRead;
  Intent intent = Intent::kPreventBeforeEffect;
  RequirementPosture posture = RequirementPosture::kRequired;
  DescendantCoverage descendants = DescendantCoverage::kProcessTree;
  EvidenceWish evidence = EvidenceWish::kSetup;
  std::string default_rule;
  std::vector<PolicyRule> rules;
  // "kill": who is denied by a rule of it is killed; network_egress alone. Of the domain syscall
  // PolicyResolved says so.
  std::optional<std::string> on_denial = std::nullopt;

  template <class V, class S>
  static void describe(V& v, S& self) {
    v.field("domain", self.domain);
    v.field("intent", self.intent);
    v.field("posture", self.posture);
    v.field("descendants", self.descendants);
    v.field("evidence", self.evidence);
    v.field("default_rule", self.default_rule);
    v.field("rules", self.rules);
    v.field("on_denial", self.on_denial);
  }
  Result<void> check() const;
  // True when `rule_id` is the default rule or the id of one of the rules.
  bool names_rule(std::string_view rule_id) const;
};

// Something the policy says, or leaves unsaid, that no requirement carries.
struct PolicyGap {
  std::optional<Domain> domain;
  std::string node;    // "capabilities.allow[2]", "network"
  std::string reason;  // one sentence

  template <class V, class S>
  static void describe(V& v, S& self) {
    v.field("domain", self.domain);
    v.field("node", self.node);
    v.field("reason", self.reason);
  }
};

// A document that the policy's own document names in metadata.extends.
struct PolicySource {
  PolicyScope scope = PolicyScope::kGlobal;
  PathBytes source;
  Sha256 document;             // SHA-256 of its bytes
  std::optional<Sha256> blob;  // as in PolicyResolved

  template <class V, class S>
  static void describe(V& v, S& self) {
    v.field("scope", self.scope);
    v.field("source", self.source);
    v.field("document", self.document);
    v.field("blob", self.blob);
  }
  bool operator==(const PolicySource&) const = default;
};

struct PolicyResolved {
  PolicyState state = PolicyState::kUnconfigured;
  std::string source_kind;         // option, environment, home, system, none
  PathBytes source;                // empty for none
  std::optional<Sha256> document;  // SHA-256 of the document's bytes
  std::optional<Sha256> blob;      // SHA-256(salt || data): the row that holds the bytes
  // With metadata.extends: whom the document itself speaks for, and the others, by scope. Ids of
  // rules then begin with the scope of the document they stand in: "org:syscalls.deny[0]".
  std::optional<PolicyScope> scope;
  std::optional<std::vector<PolicySource>> extends;
  std::string on_denial = "errno";                    // errno or kill, of the domain syscall
  std::optional<WitnessWish> witness = std::nullopt;  // absent: no second witness is asked for
  std::vector<Requirement> requirements;
  std::vector<PolicyGap> gaps;
  std::vector<PolicyGap> unmapped;
  std::string error;  // load_failed: what was wrong, with line and column
  // Of a policy too long for one record: 1-based (ledger-format.md section 3). The parts agree in
  // everything but requirements, gaps and unmapped, which go on from one to the next. Absent where
  // one record holds it all.
  std::optional<std::int64_t> part = std::nullopt;
  std::optional<std::int64_t> parts = std::nullopt;

  template <class V, class S>
  static void describe(V& v, S& self) {
    v.field("state", self.state);
    v.field("source_kind", self.source_kind);
    v.field("source", self.source);
    v.field("document", self.document);
    v.field("blob", self.blob);
    v.field("scope", self.scope);
    v.field("extends", self.extends);
    v.field("on_denial", self.on_denial);
    v.field("witness", self.witness);
    v.field("requirements", self.requirements);
    v.field("gaps", self.gaps);
    v.field("unmapped", self.unmapped);
    v.field("error", self.error);
    v.field("part", self.part);
    v.field("parts", self.parts);
  }
  Result<void> check() const;
  const Requirement* requirement_for(Domain domain) const;  // nullptr: not stated
  // Whether some denial kills; whether one on `domain` may: `on_denial` stands for every domain
  // here, since ledgers are kept in which it did.
  bool kills() const;
  bool kills(Domain domain) const;
};

}  // namespace aasm::schema
