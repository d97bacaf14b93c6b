#include "aasm/process/self_confine.h"

#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "aasm/process/landlock.h"

#include "errno_filter.h"

namespace aasm::process {
namespace {

using schema::Result;

// Everything that takes place among regular files and directories of its own.
constexpr std::uint64_t kScratchRights =
    landlock::kReadFile | landlock::kReadDir | landlock::kWriteFile | landlock::kTruncate |
    landlock::kMakeReg | landlock::kMakeDir | landlock::kRemoveFile | landlock::kRemoveDir |
    landlock::kRefer;

Result<void> add_rules(int ruleset, const std::vector<BorrowedFd>& files, std::uint64_t rights) {
  for (const BorrowedFd file : files) {
    landlock::PathBeneathAttr attr;
    attr.allowed_access = rights;
    attr.parent_fd = file.get();
    if (landlock::add_path_rule(ruleset, attr) != 0) {
      return system_error("landlock_add_rule", errno);
    }
  }
  return {};
}

Result<void> restrict_files(const SelfConfinement& request, int abi) {
  const std::uint64_t known = landlock::known_rights(abi);
  const landlock::RulesetAttr attr{known, landlock::known_net_rights(abi),
                                   landlock::known_scopes(abi)};
  const Fd ruleset(static_cast<int>(landlock::create_ruleset(attr)));
  if (!ruleset) {
    return system_error("landlock_create_ruleset", errno);
  }
  AASM_TRY(add_rules(ruleset.get(), request.readable, landlock::kReadFile));
  AASM_TRY(add_rules(ruleset.get(), request.scratch, kScratchRights & known));
  if (landlock::restrict_self(ruleset.get()) != 0) {
    return system_error("landlock_restrict_self", errno);
  }
  return {};
}

void install_landlock(const SelfConfinement& request, ConfinementReport& report) {
  const long version = landlock::abi_version();
  if (version < 1 || request.newest_abi < 1) {
    const int os_errno = version < 0 ? errno : ENOSYS;
    report.landlock_reason = os_errno == EOPNOTSUPP
                                 ? "not enabled on this kernel"
                                 : system_error("not available", os_errno).message();
    return;
  }
  const int abi = static_cast<int>(std::min<long>(version, std::min(request.newest_abi, 7)));
  if (abi < 2) {
    // It refuses every link and move between directories, those of the scratch directory too.
    report.landlock_reason = "abi 1 of this kernel leaves too little";
    return;
  }
  const Result<void> done = restrict_files(request, abi);
  if (!done) {
    report.landlock_reason = done.error().message();
    return;
  }
  report.landlock_abi = abi;
}

void install_filter(ConfinementReport& report) {
  std::vector<sock_filter> code = build_errno_filter(static_cast<std::uint32_t>(::getpid()));
  const sock_fprog program = {static_cast<unsigned short>(code.size()), code.data()};
  if (::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0) {
    report.filter_reason = system_error("installing it", errno).message();
    return;
  }
  report.filter = true;
}

}  // namespace

std::string ConfinementReport::text() const {
  const std::string landlock = "landlock abi " + std::to_string(landlock_abi);
  if (landlock_abi > 0 && filter) {
    return "confined: " + landlock + ", filter";
  }
  if (landlock_abi > 0) {
    return "partly confined: " + landlock + "; no filter: " + filter_reason;
  }
  if (filter) {
    return "partly confined: filter; no landlock: " + landlock_reason;
  }
  return "not confined: no landlock: " + landlock_reason + "; no filter: " + filter_reason;
}

ConfinementReport confine_self(const SelfConfinement& request) {
  ConfinementReport report;
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    report.landlock_reason = system_error("no_new_privs", errno).message();
    report.filter_reason = report.landlock_reason;
    return report;
  }
  install_landlock(request, report);
  install_filter(report);
  return report;
}

}  // namespace aasm::process
