#include "ruleset.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "landlock_uapi.h"
#include "remedy.h"

namespace aasm::backend_native {
namespace {

using schema::Domain;
using schema::Error;
using schema::ErrorCode;
using schema::Result;

bool is_filesystem(Domain domain) {
  return domain == Domain::kFilesystemRead || domain == Domain::kFilesystemWrite;
}

// The operations that a rule denies the whole of.
std::set<std::string> denied_operations(const schema::Requirement& requirement) {
  std::set<std::string> denied;
  for (const schema::PolicyRule& rule : requirement.rules) {
    if (rule.effect == schema::RuleEffect::kDeny &&
        rule.selector.type == schema::SelectorType::kWhole) {
      denied.insert(rule.operation);
    }
  }
  return denied;
}

std::uint64_t wanted_rights(const schema::PolicyRule& rule, bool execution_stated) {
  if (rule.operation == "write") {
    return rights_of(Operation::kWrite);
  }
  if (rule.operation == "execute") {
    return rights_of(Operation::kExecute);
  }
  return rights_of(Operation::kRead) | (execution_stated ? 0 : rights_of(Operation::kExecute));
}

// The broker has this layer too, so what it does for a caller is refused as well.
std::uint64_t wanted_scopes(const std::vector<schema::Requirement>& requirements) {
  std::uint64_t scopes = landlock::kScopeSignal;
  for (const schema::Requirement& requirement : requirements) {
    for (const schema::PolicyRule& rule : requirement.rules) {
      if (requirement.domain == Domain::kIpc && rule.operation == "abstract_sockets") {
        scopes |= landlock::kScopeAbstractUnixSocket;
      }
    }
  }
  return scopes;
}

// A path that rules name, with the sum of what they want of it, and what it is.
struct NamedPath {
  std::uint64_t wanted = 0;
  int os_errno = 0;  // 0: it could be opened
  std::string resolved;
  struct stat status {};
};

FileKind kind_of_file(const struct stat& status) {
  if (S_ISDIR(status.st_mode)) {
    return FileKind::kDirectory;
  }
  return S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode) ? FileKind::kDevice : FileKind::kOther;
}

process::Fd open_path(const std::string& path, NamedPath& named) {
  process::Fd fd(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!fd || ::fstat(fd.get(), &named.status) != 0) {
    named.os_errno = errno;
    return {};
  }
  const std::string link = "/proc/self/fd/" + std::to_string(fd.get());
  std::array<char, 4096> target{};
  const ssize_t length = ::readlink(link.c_str(), target.data(), target.size());
  named.resolved = length > 0 ? std::string(target.data(), static_cast<std::size_t>(length)) : path;
  return fd;
}

schema::PathGrant grant_record(const GrantRequest& request, const NamedPath& named,
                               std::int64_t abi) {
  schema::PathGrant grant;
  grant.rule = request.rule;
  grant.requested = schema::PathBytes(request.path);
  if (named.os_errno != 0) {
    grant.access = hex_mask(0);
    grant.skipped = true;
    grant.note = std::string("not granted: ") + ::strerror(named.os_errno);
    return grant;
  }
  grant.resolved = schema::PathBytes(named.resolved);
  grant.device = named.status.st_dev;
  grant.inode = named.status.st_ino;
  grant.access = hex_mask(installable_rights(request.wanted, kind_of_file(named.status), abi));
  return grant;
}

using NamedPaths = std::map<std::string, NamedPath>;

NamedPaths paths_of(const std::vector<GrantRequest>& requests) {
  NamedPaths paths;
  for (const GrantRequest& request : requests) {
    paths[request.path].wanted |= request.wanted;
  }
  return paths;
}

// One path is open at a time: a policy may name more than a process may have open.
Result<void> install_rules(NamedPaths& paths, const Ruleset& ruleset) {
  for (auto& [path, named] : paths) {
    const process::Fd fd = open_path(path, named);
    if (!fd) {
      continue;
    }
    landlock::PathBeneathAttr attr;
    attr.allowed_access = installable_rights(named.wanted, kind_of_file(named.status), ruleset.abi);
    attr.parent_fd = fd.get();
    if (attr.allowed_access != 0 && landlock::add_path_rule(ruleset.fd.get(), attr) != 0) {
      const int os_errno = errno;
      return Error(ErrorCode::kUnsupported,
                   "landlock_add_rule for " + schema::PathBytes(named.resolved).display(),
                   os_errno);
    }
  }
  return {};
}

Result<void> check_writable(const std::vector<GrantRequest>& requests, const NamedPaths& paths) {
  for (const GrantRequest& request : requests) {
    const int os_errno = paths.at(request.path).os_errno;
    if (os_errno != 0 && request.domain == Domain::kFilesystemWrite) {
      return Error(os_errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kPermissionDenied,
                   "the writable path of " + request.rule +
                       " cannot be opened: " + schema::PathBytes(request.path).display(),
                   os_errno);
    }
  }
  return {};
}

}  // namespace

bool states_execution(const schema::Requirement& requirement) {
  for (const schema::PolicyRule& rule : requirement.rules) {
    if (rule.effect == schema::RuleEffect::kAllow && rule.operation == "execute") {
      return true;
    }
  }
  return denied_operations(requirement).count("execute") != 0;
}

std::uint64_t rights_of(Operation operation) {
  switch (operation) {
    case Operation::kRead:
      return landlock::kReadFile | landlock::kReadDir;
    case Operation::kExecute:
      return landlock::kExecute;
    case Operation::kWrite:
      break;
  }
  return landlock::kWriteFile | landlock::kRemoveDir | landlock::kRemoveFile | landlock::kMakeChar |
         landlock::kMakeDir | landlock::kMakeReg | landlock::kMakeSock | landlock::kMakeFifo |
         landlock::kMakeBlock | landlock::kMakeSym | landlock::kRefer | landlock::kTruncate |
         landlock::kIoctlDev;
}

std::uint64_t installable_rights(std::uint64_t wanted, FileKind kind, std::int64_t abi) {
  if (kind == FileKind::kDevice && (wanted & landlock::kReadFile) != 0) {
    wanted |= landlock::kIoctlDev;
  }
  if (kind != FileKind::kDirectory) {
    wanted &= landlock::kFileRights;
  }
  return wanted & landlock::known_rights(abi);
}

std::vector<GrantRequest> grant_requests(const std::vector<schema::Requirement>& requirements) {
  std::vector<GrantRequest> requests;
  for (const schema::Requirement& requirement : requirements) {
    if (!is_filesystem(requirement.domain)) {
      continue;
    }
    const bool execution_stated = states_execution(requirement);
    const std::set<std::string> denied = denied_operations(requirement);
    for (const schema::PolicyRule& rule : requirement.rules) {
      if (rule.effect == schema::RuleEffect::kAllow &&
          rule.selector.type == schema::SelectorType::kPathPrefix &&
          denied.count(rule.operation) == 0) {
        requests.push_back({rule.id, requirement.domain, rule.selector.value.bytes(),
                            wanted_rights(rule, execution_stated)});
      }
    }
  }
  return requests;
}

Result<Ruleset> build_ruleset(const std::vector<schema::Requirement>& requirements,
                              std::int64_t abi, std::uint64_t scopes) {
  const std::vector<GrantRequest> requests = grant_requests(requirements);
  NamedPaths paths = paths_of(requests);
  Ruleset ruleset;
  ruleset.abi = abi;
  ruleset.handled_fs = landlock::known_rights(abi);
  ruleset.scoped =
      landlock::known_scopes(abi) & wanted_scopes(requirements) & (scopes | landlock::kScopeSignal);
  const landlock::RulesetAttr attr{ruleset.handled_fs, 0, ruleset.scoped};
  ruleset.fd = process::Fd(static_cast<int>(landlock::create_ruleset(attr)));
  if (!ruleset.fd) {
    const int os_errno = errno;
    return Error(ErrorCode::kUnsupported, "landlock_create_ruleset", os_errno);
  }
  AASM_TRY(install_rules(paths, ruleset));
  AASM_TRY(check_writable(requests, paths));
  for (const GrantRequest& request : requests) {
    schema::PathGrant grant = grant_record(request, paths.at(request.path), abi);
    (request.domain == Domain::kFilesystemWrite ? ruleset.write_grants : ruleset.read_grants)
        .push_back(std::move(grant));
  }
  return ruleset;
}

Result<void> grant_everything(Ruleset& ruleset) {
  const GrantRequest request{"self_protection.aasm_files", Domain::kFilesystemRead, "/",
                             ruleset.handled_fs};
  NamedPaths paths = paths_of({request});
  AASM_TRY(install_rules(paths, ruleset));
  ruleset.everything = grant_record(request, paths.at(request.path), ruleset.abi);
  return {};
}

Result<std::int64_t> landlock_abi() {
  const long version = landlock::abi_version();
  if (version < 1) {
    const int os_errno = errno;
    return Error(ErrorCode::kUnsupported, landlock_remedy(os_errno), os_errno);
  }
  return static_cast<std::int64_t>(version);
}

std::string hex_mask(std::uint64_t mask) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), mask, 16);
  return "0x" + std::string(digits.data(), end.ptr);
}

}  // namespace aasm::backend_native
