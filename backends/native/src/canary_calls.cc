#include "canary_calls.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/kcmp.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>

#include <cstdint>
#include <cstring>

#include "bpf.h"

namespace aasm::backend_native {

ScriptCall harmless_call(std::string_view name, long number, Script& script) {
  ScriptCall call;
  call.number = number;
  if (name == "unshare") {
    call.args = {value_arg(0)};
  } else if (name == "kcmp") {
    call.args = {own_pid_arg(), own_pid_arg(), value_arg(KCMP_VM), value_arg(0), value_arg(0)};
  } else if (name == "process_vm_readv") {
    call.args = {own_pid_arg(), value_arg(0), value_arg(0), value_arg(0), value_arg(0)};
  } else {
    const std::uint32_t action = SECCOMP_RET_ALLOW;
    std::array<char, sizeof action> bytes{};
    std::memcpy(bytes.data(), &action, sizeof action);
    call.args = {value_arg(SECCOMP_GET_ACTION_AVAIL), value_arg(0),
                 script.blob({bytes.data(), bytes.size()})};
  }
  return call;
}

ScriptCall open_call(const std::string& path, int flags, Script& script) {
  ScriptCall call;
  call.number = SYS_openat;
  call.returns_descriptor = true;
  call.args = {value_arg(AT_FDCWD), script.text(path), value_arg(flags | O_CLOEXEC), value_arg(0)};
  return call;
}

ScriptCall execute_call(const std::string& path, Script& script) {
  ScriptCall call;
  call.number = SYS_execveat;
  call.args = {value_arg(AT_FDCWD), script.text(path), scratch_arg(0), scratch_arg(0),
               value_arg(kExecveCheck)};
  return call;
}

ScriptCall capset_call(const CapabilitySets& sets, Script& script) {
  const std::array<std::uint32_t, 2> head = {_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<std::uint32_t, 6> data{};
  for (std::size_t half = 0; half < 2; ++half) {
    data.at(half * 3) = static_cast<std::uint32_t>(sets.effective >> (32 * half));
    data.at(half * 3 + 1) = static_cast<std::uint32_t>(sets.permitted >> (32 * half));
    data.at(half * 3 + 2) = static_cast<std::uint32_t>(sets.inheritable >> (32 * half));
  }
  std::array<char, sizeof head> head_bytes{};
  std::array<char, sizeof data> data_bytes{};
  std::memcpy(head_bytes.data(), head.data(), sizeof head);
  std::memcpy(data_bytes.data(), data.data(), sizeof data);
  ScriptCall call;
  call.number = SYS_capset;
  call.args = {script.blob({head_bytes.data(), head_bytes.size()}),
               script.blob({data_bytes.data(), data_bytes.size()})};
  return call;
}

}  // namespace aasm::backend_native
