#pragma once

#include <optional>
#include <string>
#include <utility>

#include "aasm/planner/lower.h"

#include "denials.h"

namespace aasm::planner {

// The work of lower_policy(), one member for each group of nodes. Used once.
class Lowering {
 public:
  Lowering(const PolicyDocument& document, const PathResolver& resolve)
      : document_(document), resolve_(resolve) {}

  LoweredPolicy run();

 private:
  // lower_filesystem.cc
  struct Grant {
    std::string path;
    std::size_t index = 0;
    Position at;
  };
  void filesystem_read();
  void filesystem_write();
  std::vector<Grant> resolved(const TextList& list, const std::string& node, schema::Domain domain,
                              bool has_to_exist);
  void note_missing(const WalkedPath& walked, const TextEntry& entry, const std::string& node,
                    schema::Domain domain, bool has_to_exist);
  void add_grants(schema::Requirement& requirement, std::vector<Grant> grants,
                  const std::string& node, const std::string& operation);
  void find_denials();
  void add_execution(schema::Requirement& requirement);
  void note_unused_denials();

  // lower_nodes.cc
  void syscalls();
  void credentials();
  void network();
  void name_resolution();
  void process_creation();
  void ipc();
  void resources();

  // lower.cc
  void capabilities_unmapped();
  void unmapped_nodes();
  void unstated_domains();
  schema::PolicyState state() const;

  // The id of the statement that takes the whole of a capability away; nullopt when none does.
  std::optional<std::pair<std::string, Position>> restricted(const std::string& capability) const;

  // A requirement of `domain` with its posture, entered among the results; its rules are still to
  // be added. The reference holds until the next call.
  schema::Requirement& begin(schema::Domain domain, const std::string& default_rule,
                             const std::string& node, Position at);
  void gap(std::optional<schema::Domain> domain, const std::string& node, std::string reason);

  const PolicyDocument& document_;
  const PathResolver& resolve_;
  PathDenials denials_;
  LoweredPolicy out_;
};

schema::PolicyRule make_rule(std::string id, const std::string& operation,
                             schema::SelectorType type, std::string value, Position at,
                             schema::RuleEffect effect = schema::RuleEffect::kAllow);

// "filesystem.read.allow[2]"
std::string indexed(const std::string& node, std::size_t index);

}  // namespace aasm::planner
