#include "file_spec.h"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "file_mounts.h"
#include "lowering.h"
#include "mountinfo.h"

namespace aasm::backend_native {
namespace {

using schema::Domain;
using schema::EvidenceWish;
using schema::PathGrant;
using schema::PolicyRule;
using schema::Requirement;
using schema::RuleEffect;
using schema::SelectorType;

void add_grants(const std::vector<PathGrant>& grants, Domain domain, FileSpec& spec) {
  for (const PathGrant& grant : grants) {
    if (!grant.skipped) {
      spec.grants.push_back({grant.rule, domain, grant.resolved.bytes(),
                             FileId{grant.device, grant.inode}, mask_of(grant.access)});
    }
  }
}

// Its own and, where a mount shows something from below it, those of there.
void add_denial(const PolicyRule& rule, Domain domain, const std::string& mountinfo,
                FileSpec& spec) {
  const std::string& path = rule.selector.value.bytes();
  spec.denials.push_back({rule.id, domain, path, ways_to(path)});
  for (const std::string& place : mounts_from_below(mountinfo, path)) {
    spec.denials.push_back({rule.id, domain, place, ways_to(place)});
  }
}

// Execution is taken out of no grant (docs/decisions/0020).
bool denies_path(const PolicyRule& rule) {
  return rule.effect == RuleEffect::kDeny && rule.selector.type == SelectorType::kPathPrefix &&
         rule.operation != "execute";
}

bool denies_paths(const Requirement* requirement) {
  return requirement != nullptr &&
         std::any_of(requirement->rules.begin(), requirement->rules.end(), denies_path);
}

void add_denials(const Requirement& requirement, const std::string& mountinfo, FileSpec& spec) {
  for (const PolicyRule& rule : requirement.rules) {
    if (denies_path(rule)) {
      add_denial(rule, requirement.domain, mountinfo, spec);
    }
  }
}

}  // namespace

std::uint64_t mask_of(std::string_view hex) {
  std::uint64_t mask = 0;
  hex.remove_prefix(hex.starts_with("0x") ? 2 : 0);
  std::from_chars(hex.data(), hex.data() + hex.size(), mask, 16);
  return mask;
}

std::vector<FileWay> ways_to(const std::string& path) {
  const std::vector<std::string> names = path_names(path);
  std::vector<FileWay> ways;
  std::string place = "/";
  for (std::size_t depth = 0;; ++depth) {
    struct stat facts = {};
    const bool leads_on =
        ::lstat(place.c_str(), &facts) == 0 && (S_ISDIR(facts.st_mode) || depth == names.size());
    if (!leads_on) {
      return ways;
    }
    const auto rest = names.begin() + static_cast<std::ptrdiff_t>(depth);
    ways.push_back({{facts.st_dev, facts.st_ino}, {rest, names.end()}});
    if (depth == names.size()) {
      return ways;
    }
    place += (depth == 0 ? "" : "/") + names[depth];
  }
}

std::vector<std::string> path_names(std::string_view path) {
  std::vector<std::string> names;
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    if (slash != 0) {
      names.emplace_back(path.substr(0, slash));
    }
    path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
  }
  return names;
}

FileLevel file_level(const Requirement* read, const Requirement* write) {
  if (read != nullptr && read->evidence == EvidenceWish::kDecisions) {
    return FileLevel::kDecisions;
  }
  return write != nullptr && write->evidence != EvidenceWish::kSetup ? FileLevel::kWriteDecisions
                                                                     : FileLevel::kSetup;
}

schema::Result<FileSpec> make_file_spec(const std::vector<Requirement>& requirements,
                                        const std::vector<PathGrant>& read_grants,
                                        const std::vector<PathGrant>& write_grants) {
  const Requirement* read = requirement_on(requirements, Domain::kFilesystemRead);
  const Requirement* write = requirement_on(requirements, Domain::kFilesystemWrite);
  FileSpec spec;
  spec.level = file_level(read, write);
  std::string mountinfo;
  if (denies_paths(read) || denies_paths(write)) {
    mountinfo = AASM_TRY_CONTEXT(read_mountinfo(), "looking for mounts of what is denied");
  }
  // Those of writing first: a call that changes names cites its own domain where it can.
  if (write != nullptr) {
    spec.write_stated = true;
    spec.write_default = write->default_rule;
    add_denials(*write, mountinfo, spec);
  }
  if (read != nullptr) {
    spec.read_stated = true;
    spec.read_default = read->default_rule;
    add_denials(*read, mountinfo, spec);
  }
  add_grants(read_grants, Domain::kFilesystemRead, spec);
  add_grants(write_grants, Domain::kFilesystemWrite, spec);
  return spec;
}

}  // namespace aasm::backend_native
