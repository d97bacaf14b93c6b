#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "aasm/planner/lower.h"

#include "path_index.h"

// What a policy takes out of its grants on files.
namespace aasm::planner {

// A denied path, free of links. `id` is the statement: "filesystem.deny[0]"; with ".link" it is a
// link on the way to what that denies, which may not be replaced.
struct PathDenial {
  std::string id;
  std::string path;
  Position at;
  bool reading = false;
  bool writing = false;
  bool executing = false;
  bool is_link = false;

  bool speaks_of(std::string_view operation) const {
    return operation == "read" ? reading : operation == "write" ? writing : executing;
  }
};

// Told of an entry that cannot be resolved (`problem`) or that is not there.
using NoteDenial =
    std::function<void(const std::string& node, Position at, bool problem, std::string text)>;

// The entries of filesystem.deny, filesystem.read.deny and filesystem.write.deny, and the links on
// the way to them. Without `resolve` paths are taken as written.
std::vector<PathDenial> denials_of(const FilesystemNode& node, const PathResolver& resolve,
                                   const NoteDenial& note);

// All denials of a policy, of which each operation asks those that speak of it.
class PathDenials {
 public:
  void add(PathDenial denial);

  // The denial that takes a grant away whole; nullptr when there is none. Links take none away.
  const PathDenial* covering(std::string_view operation, std::string_view path);

  // Adds a deny rule for each denial that lies in one of the grants of the operation which
  // `requirement` has from its rule number `from` on. What another denial covers is left out. An
  // entry's first rule in a requirement has its plain id, a second one says its operation besides.
  void add_rules(schema::Requirement& requirement, const std::string& operation, std::size_t from);

  // Entries that neither took a grant away nor became a rule.
  std::vector<const PathDenial*> unused() const;

 private:
  const PathIndex& index_for(std::string_view operation) const;

  std::vector<PathDenial> denials_;
  std::vector<bool> used_;
  PathIndex reading_;
  PathIndex writing_;
  PathIndex executing_;
};

}  // namespace aasm::planner
