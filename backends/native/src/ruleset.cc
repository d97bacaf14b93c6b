#include "ruleset.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <map>
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

bool denies_whole(const schema::Requirement& requirement, std::string_view operation) {
  for (const schema::PolicyRule& rule : requirement.rules) {
    if (rule.effect == schema::RuleEffect::kDeny && rule.operation == operation &&
        rule.selector.type == schema::SelectorType::kWhole) {
      return true;
    }
  }
  return false;
}

bool states_execution(const schema::Requirement& requirement) {
  for (const schema::PolicyRule& rule : requirement.rules) {
    if (rule.effect == schema::RuleEffect::kAllow && rule.operation == "execute") {
      return true;
    }
  }
  return denies_whole(requirement, "execute");
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

// A path that a rule names, opened, with the sum of what the rules want of it.
struct OpenedPath {
  process::Fd fd;
  int os_errno = 0;
  std::string resolved;
  struct stat status {};
  std::uint64_t wanted = 0;
};

FileKind kind_of_file(const struct stat& status) {
  if (S_ISDIR(status.st_mode)) {
    return FileKind::kDirectory;
  }
  return S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode) ? FileKind::kDevice : FileKind::kOther;
}

OpenedPath open_path(const std::string& path) {
  OpenedPath opened;
  opened.fd = process::Fd(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!opened.fd || ::fstat(opened.fd.get(), &opened.status) != 0) {
    opened.os_errno = errno;
    return opened;
  }
  const std::string link = "/proc/self/fd/" + std::to_string(opened.fd.get());
  std::array<char, 4096> target{};
  const ssize_t length = ::readlink(link.c_str(), target.data(), target.size());
  opened.resolved =
      length > 0 ? std::string(target.data(), static_cast<std::size_t>(length)) : path;
  return opened;
}

schema::PathGrant grant_record(const GrantRequest& request, const OpenedPath& opened,
                               std::int64_t abi) {
  schema::PathGrant grant;
  grant.rule = request.rule;
  grant.requested = schema::PathBytes(request.path);
  if (opened.os_errno != 0) {
    grant.access = hex_mask(0);
    grant.skipped = true;
    grant.note = std::string("not granted: ") + ::strerror(opened.os_errno);
    return grant;
  }
  grant.resolved = schema::PathBytes(opened.resolved);
  grant.device = opened.status.st_dev;
  grant.inode = opened.status.st_ino;
  grant.access = hex_mask(installable_rights(request.wanted, kind_of_file(opened.status), abi));
  return grant;
}

using OpenedPaths = std::map<std::string, OpenedPath>;

Result<OpenedPaths> open_requested(const std::vector<GrantRequest>& requests) {
  OpenedPaths paths;
  for (const GrantRequest& request : requests) {
    auto place = paths.find(request.path);
    if (place == paths.end()) {
      place = paths.emplace(request.path, open_path(request.path)).first;
    }
    OpenedPath& opened = place->second;
    opened.wanted |= request.wanted;
    if (opened.os_errno != 0 && request.domain == Domain::kFilesystemWrite) {
      return Error(opened.os_errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kPermissionDenied,
                   "the writable path of " + request.rule +
                       " cannot be opened: " + schema::PathBytes(request.path).display(),
                   opened.os_errno);
    }
  }
  return paths;
}

Result<void> install_rules(const OpenedPaths& paths, const Ruleset& ruleset) {
  for (const auto& entry : paths) {
    const OpenedPath& opened = entry.second;
    if (opened.os_errno != 0) {
      continue;
    }
    landlock::PathBeneathAttr attr;
    attr.allowed_access =
        installable_rights(opened.wanted, kind_of_file(opened.status), ruleset.abi);
    attr.parent_fd = opened.fd.get();
    if (attr.allowed_access != 0 && landlock::add_path_rule(ruleset.fd.get(), attr) != 0) {
      const int os_errno = errno;
      return Error(ErrorCode::kUnsupported,
                   "landlock_add_rule for " + schema::PathBytes(opened.resolved).display(),
                   os_errno);
    }
  }
  return {};
}

}  // namespace

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
    for (const schema::PolicyRule& rule : requirement.rules) {
      if (rule.effect == schema::RuleEffect::kAllow &&
          rule.selector.type == schema::SelectorType::kPathPrefix &&
          !denies_whole(requirement, rule.operation)) {
        requests.push_back({rule.id, requirement.domain, rule.selector.value.bytes(),
                            wanted_rights(rule, execution_stated)});
      }
    }
  }
  return requests;
}

Result<Ruleset> build_ruleset(const std::vector<schema::Requirement>& requirements,
                              std::int64_t abi) {
  const std::vector<GrantRequest> requests = grant_requests(requirements);
  const OpenedPaths paths = AASM_TRY(open_requested(requests));
  Ruleset ruleset;
  ruleset.abi = abi;
  ruleset.handled_fs = landlock::known_rights(abi);
  ruleset.scoped = landlock::known_scopes(abi) & landlock::kScopeSignal;
  const landlock::RulesetAttr attr{ruleset.handled_fs, 0, ruleset.scoped};
  ruleset.fd = process::Fd(static_cast<int>(landlock::create_ruleset(attr)));
  if (!ruleset.fd) {
    const int os_errno = errno;
    return Error(ErrorCode::kUnsupported, "landlock_create_ruleset", os_errno);
  }
  AASM_TRY(install_rules(paths, ruleset));
  for (const GrantRequest& request : requests) {
    schema::PathGrant grant = grant_record(request, paths.at(request.path), abi);
    (request.domain == Domain::kFilesystemWrite ? ruleset.write_grants : ruleset.read_grants)
        .push_back(std::move(grant));
  }
  return ruleset;
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
