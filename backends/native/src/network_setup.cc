#include "network_setup.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cerrno>

#include <netinet/in.h>

#include "landlock_uapi.h"
#include "lowering.h"

namespace aasm::backend_native {
using schema::Domain;
using schema::Error;
using schema::ErrorCode;
using schema::Requirement;
using schema::Result;

Result<NetworkSpec> network_spec_of(const std::vector<Requirement>& requirements) {
  NetworkSpec spec =
      AASM_TRY(make_network_spec(requirement_on(requirements, Domain::kNetworkEgress),
                                 requirement_on(requirements, Domain::kNameResolution)));
  if (!spec.names_stated) {
    return spec;
  }
  for (const std::string& path : resolver_paths()) {
    struct stat status {};
    if (::stat(path.c_str(), &status) == 0) {
      spec.resolvers.push_back({path, status.st_dev, status.st_ino});
    }
  }
  return spec;
}

Result<IpcSpec> ipc_spec_of(const std::vector<Requirement>& requirements) {
  IpcSpec spec = AASM_TRY(make_ipc_spec(requirement_on(requirements, Domain::kIpc)));
  locate_sockets(spec);
  return spec;
}

namespace {

// Every layer refuses links and renames between directories unless a rule allows them, also one
// that handles no right to files (landlock(7), LANDLOCK_ACCESS_FS_REFER).
Result<void> leave_files_alone(const process::Fd& ruleset) {
  const process::Fd root(::open("/", O_PATH | O_CLOEXEC));
  landlock::PathBeneathAttr attr;
  attr.allowed_access = landlock::kRefer;
  attr.parent_fd = root.get();
  if (!root || landlock::add_path_rule(ruleset.get(), attr) != 0) {
    const int os_errno = errno;
    return Error(ErrorCode::kUnsupported, "landlock_add_rule for /", os_errno);
  }
  return {};
}

}  // namespace

Result<InnerRuleset> build_inner_ruleset(const NetworkSpec& spec, std::int64_t abi) {
  InnerRuleset ruleset;
  ruleset.abi = abi;
  ruleset.handled_net = spec.egress_stated ? landlock::known_net_rights(abi) : 0;
  ruleset.scoped = landlock::known_scopes(abi) & landlock::kScopeSignal;
  if (ruleset.scoped == 0) {
    return Error(ErrorCode::kUnsupported,
                 "the broker needs the signal scope (Landlock ABI 6), Landlock here has ABI " +
                     std::to_string(abi));
  }
  const landlock::RulesetAttr attr{landlock::kRefer, ruleset.handled_net, ruleset.scoped};
  ruleset.fd = process::Fd(static_cast<int>(landlock::create_ruleset(attr)));
  if (!ruleset.fd) {
    const int os_errno = errno;
    return Error(ErrorCode::kUnsupported, "landlock_create_ruleset", os_errno);
  }
  AASM_TRY(leave_files_alone(ruleset.fd));
  return ruleset;
}

CanaryListener open_canary_listener() {
  CanaryListener listener;
  sockaddr_in address{};
  socklen_t size = sizeof address;
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  process::Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (fd && ::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), size) == 0 &&
      ::listen(fd.get(), 1) == 0 &&
      ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0) {
    listener.fd = std::move(fd);
    listener.address.assign(reinterpret_cast<const char*>(&address), size);
  }
  return listener;
}

}  // namespace aasm::backend_native
