#include "aasm/planner/grant_guard.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "aasm/planner/paths.h"

namespace aasm::planner {
namespace {

using schema::Domain;
using schema::PolicyRule;
using schema::Refusal;
using schema::Requirement;

// A protected path with what it is and what leads to it.
struct Protected {
  std::string path;
  std::string resolved;
  std::set<FileId> on_the_way;
  std::optional<FileId> end;
  std::uint64_t hard_links = 0;
  bool is_directory = false;
};

std::vector<Protected> look_at(const std::vector<std::string>& paths, const PathResolver& resolve) {
  std::vector<Protected> found;
  for (const std::string& path : paths) {
    Protected one;
    one.path = path;
    one.resolved = path;
    const schema::Result<WalkedPath> walked = resolve(path);
    if (walked) {
      one.resolved = walked->resolved;
      one.on_the_way.insert(walked->visited.begin(), walked->visited.end());
      one.end = walked->end;
      one.hard_links = walked->hard_links;
      one.is_directory = walked->is_directory;
    }
    found.push_back(std::move(one));
  }
  return found;
}

std::vector<std::string> other_than(std::vector<std::string> paths,
                                    const std::vector<std::string>& left_out) {
  std::erase_if(paths, [&](const std::string& path) {
    return std::find(left_out.begin(), left_out.end(), path) != left_out.end();
  });
  return paths;
}

bool grants_path(const PolicyRule& rule) {
  return rule.effect == schema::RuleEffect::kAllow &&
         rule.selector.type == schema::SelectorType::kPathPrefix;
}

bool covers(const std::string& granted, const schema::Result<WalkedPath>& walked,
            const Protected& one) {
  if (path_covers(granted, one.path) || path_covers(granted, one.resolved)) {
    return true;  // also where nothing exists yet
  }
  if (!walked) {
    return false;
  }
  if (walked->end && one.on_the_way.count(*walked->end) != 0) {
    return true;
  }
  // The grant lies inside a protected directory, or is the protected file by another name.
  return one.end && std::find(walked->visited.begin(), walked->visited.end(), *one.end) !=
                        walked->visited.end();
}

std::vector<std::string> covered_by(const std::string& granted,
                                    const schema::Result<WalkedPath>& walked,
                                    const std::vector<Protected>& list) {
  std::vector<std::string> covered;
  for (const Protected& one : list) {
    if (covers(granted, walked, one)) {
      covered.push_back(one.path);
    }
  }
  return covered;
}

}  // namespace

std::vector<Refusal> check_grants(const std::vector<Requirement>& requirements,
                                  const ProtectedPaths& paths, const PolicyView& policy,
                                  const PathResolver& resolve) {
  const std::vector<Protected> evidence = look_at(paths.unreadable, resolve);
  const auto controls = {std::pair(look_at(other_than(paths.unwritable, paths.groups), resolve),
                                   &refuse_grant_covers_control),
                         std::pair(look_at(paths.groups, resolve), &refuse_grant_covers_groups)};
  std::vector<Refusal> refusals;
  for (const Requirement& requirement : requirements) {
    const bool writes = requirement.domain == Domain::kFilesystemWrite;
    if (!writes && requirement.domain != Domain::kFilesystemRead) {
      continue;
    }
    for (const PolicyRule& rule : requirement.rules) {
      if (!grants_path(rule)) {
        continue;
      }
      const std::string& granted = rule.selector.value.bytes();
      const schema::Result<WalkedPath> walked = resolve(granted);
      const std::vector<std::string> seen = covered_by(granted, walked, evidence);
      if (!seen.empty()) {
        refusals.push_back(refuse_grant_covers_evidence(rule, seen, policy));
      }
      if (!writes) {
        continue;
      }
      for (const auto& [list, refuse] : controls) {
        const std::vector<std::string> changed = covered_by(granted, walked, list);
        if (!changed.empty()) {
          refusals.push_back(refuse(rule, changed, policy));
        }
      }
    }
  }
  for (const Protected& one : evidence) {
    if (!one.is_directory && one.hard_links > 1) {
      refusals.push_back(refuse_evidence_hard_linked(one.path, one.hard_links));
    }
  }
  return refusals;
}

}  // namespace aasm::planner
