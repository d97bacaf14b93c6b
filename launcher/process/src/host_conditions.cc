#include "aasm/process/host_conditions.h"

#include <sys/utsname.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "aasm/process/fd.h"
#include "aasm/process/proc_status.h"

namespace aasm::process {

namespace {

using schema::Result;

// "0::/path" becomes the path; several hierarchies are kept as one line.
std::string cgroup_text(std::string text) {
  while (!text.empty() && text.back() == '\n') {
    text.pop_back();
  }
  if (text.rfind("0::", 0) == 0 && text.find('\n') == std::string::npos) {
    return text.substr(3);
  }
  std::replace(text.begin(), text.end(), '\n', ';');
  return text;
}

}  // namespace

Result<schema::HostConditions> read_host_conditions(const schema::Sha256& aasm_digest,
                                                    const schema::Sha256& helper_digest) {
  schema::HostConditions host;
  utsname names = {};
  if (::uname(&names) != 0) {
    return system_error("uname", errno);
  }
  host.kernel_release = static_cast<const char*>(names.release);
  host.machine = static_cast<const char*>(names.machine);
  host.boot_id =
      AASM_TRY_CONTEXT(read_small_file("/proc/sys/kernel/random/boot_id"), "reading the boot id");
  host.boot_id.erase(std::remove(host.boot_id.begin(), host.boot_id.end(), '\n'),
                     host.boot_id.end());
  // Capabilities and seccomp belong to a thread.
  const std::string text =
      AASM_TRY_CONTEXT(read_small_file("/proc/thread-self/status"), "reading own status");
  const ProcStatus status = AASM_TRY(parse_proc_status(text));
  host.uid = status.effective_uid;
  host.gid = status.effective_gid;
  host.cap_effective = status.cap_effective;
  host.cap_permitted = status.cap_permitted;
  host.cap_bounding = status.cap_bounding;
  host.seccomp_mode = status.seccomp_mode;
  host.no_new_privs = status.no_new_privs;
  const std::string spaces = "/proc/thread-self/ns/";
  host.user_ns = AASM_TRY_CONTEXT(read_link(spaces + "user"), "reading own namespaces");
  host.pid_ns = AASM_TRY_CONTEXT(read_link(spaces + "pid"), "reading own namespaces");
  host.mnt_ns = AASM_TRY_CONTEXT(read_link(spaces + "mnt"), "reading own namespaces");
  host.net_ns = AASM_TRY_CONTEXT(read_link(spaces + "net"), "reading own namespaces");
  host.cgroup = cgroup_text(
      AASM_TRY_CONTEXT(read_small_file("/proc/thread-self/cgroup"), "reading own cgroup"));
  host.aasm_digest = aasm_digest;
  host.helper_digest = helper_digest;
  return host;
}

}  // namespace aasm::process
