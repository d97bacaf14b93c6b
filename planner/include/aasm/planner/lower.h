#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "aasm/planner/environment.h"
#include "aasm/planner/execution_spec.h"
#include "aasm/planner/path_walk.h"
#include "aasm/planner/policy_document.h"
#include "aasm/schema/record_policy.h"

namespace aasm::planner {

// Finds what a path leads to on this host: walk_path(), or a table in tests. Empty: paths stay as
// written and are taken to exist.
using PathResolver = std::function<schema::Result<WalkedPath>(const std::string&)>;

// Where the statement behind a requirement stands, for messages.
struct DomainPlace {
  schema::Domain domain = schema::Domain::kFilesystemRead;
  std::string node;  // "filesystem.read.allow"; of several documents "org:filesystem.read.allow"
  Position at;
};

// The first of `domain`; nullptr when there is none.
const DomainPlace* place_on(const std::vector<DomainPlace>& places, schema::Domain domain);

// A document turned into requirements: at most one a domain, in the order of the vocabulary.
//
// How the three states of a list arrive: not stated gives no requirement; a list gives an allow
// rule for each entry; an empty list gives a requirement without rules, so that everything falls
// to `default_rule`. An empty filesystem.execute.allow, which has no requirement of its own, gives
// a rule that denies the whole of the operation `execute`. A capability that is denied, or left
// out of capabilities.allow, gives a requirement without rules that cites it as `default_rule`.
// `problems` are faults that only this host shows; with any the policy has not loaded.
struct LoweredPolicy {
  schema::PolicyState state = schema::PolicyState::kUnconfigured;
  std::string on_denial = "errno";
  std::optional<schema::WitnessWish> witness;
  std::vector<schema::Requirement> requirements;
  std::vector<schema::PolicyGap> gaps;
  std::vector<schema::PolicyGap> unmapped;
  CredentialGrants credentials;
  std::vector<DomainPlace> places;
  std::vector<Problem> problems;
};

// Deterministic. Reads the host only through `resolve`: selectors of paths are free of symbolic
// links, entries covered by another are dropped, and filesystem.deny is kept as deny rules where it
// lies inside a grant. docs/policy-reference.md states each rule.
LoweredPolicy lower_policy(const PolicyDocument& document, const PathResolver& resolve);

}  // namespace aasm::planner
