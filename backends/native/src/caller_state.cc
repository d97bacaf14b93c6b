#include "caller_state.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <vector>

#include "aasm/process/pidfd.h"
#include "aasm/process/proc_status.h"

#include "caller_memory.h"

namespace aasm::backend_native {
namespace {

using schema::Error;
using schema::ErrorCode;
using schema::Result;

constexpr unsigned kPidfdThread = O_EXCL;  // PIDFD_THREAD, Linux 6.9

// Of the thread itself, which may have descriptors of its own; before 6.9 of its process.
Result<process::Fd> open_thread(pid_t tid) {
  process::Fd fd(static_cast<int>(::syscall(SYS_pidfd_open, tid, kPidfdThread)));
  if (fd || errno != EINVAL) {
    return fd ? Result<process::Fd>(std::move(fd)) : process::system_error("pidfd_open", errno);
  }
  fd.reset(static_cast<int>(::syscall(SYS_pidfd_open, tid, 0)));
  if (fd) {
    return fd;
  }
  const process::ProcStatus status = AASM_TRY(process::read_proc_status(tid));
  return process::pidfd_open(status.tgid);
}

// The rest of the line that begins with `name`. A name of the process's choosing cannot look like
// one: the kernel escapes newlines.
std::optional<std::string_view> field(std::string_view text, std::string_view name) {
  const std::string start = "\n" + std::string(name) + ":\t";
  const std::size_t at = text.find(start);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view rest = text.substr(at + start.size());
  return rest.substr(0, rest.find('\n'));
}

std::vector<std::uint64_t> numbers(std::string_view text, int base) {
  std::vector<std::uint64_t> list;
  for (std::size_t at = text.find_first_not_of(" \t"); at != std::string_view::npos;
       at = text.find_first_not_of(" \t", at)) {
    std::uint64_t value = 0;
    const auto parsed = std::from_chars(text.data() + at, text.data() + text.size(), value, base);
    if (parsed.ec != std::errc{}) {
      return {};
    }
    list.push_back(value);
    at = static_cast<std::size_t>(parsed.ptr - text.data());
  }
  return list;
}

}  // namespace

Result<process::Fd> take_descriptor(pid_t tid, int number) {
  if (number < 0) {
    return kernel_answer(EBADF);
  }
  const process::Fd thread = AASM_TRY(open_thread(tid));
  Result<process::Fd> taken = process::pidfd_getfd(thread.borrow(), number);
  if (!taken && taken.error().os_errno() == EBADF) {
    return kernel_answer(EBADF);
  }
  return taken;
}

Result<SocketFacts> socket_facts(const process::Fd& socket) {
  SocketFacts facts;
  const std::array<std::pair<int, int*>, 3> asked = {
      {{SO_DOMAIN, &facts.family}, {SO_TYPE, &facts.type}, {SO_PROTOCOL, &facts.protocol}}};
  for (const auto& [option, value] : asked) {
    socklen_t size = sizeof *value;
    if (::getsockopt(socket.get(), SOL_SOCKET, option, value, &size) != 0) {
      return errno == ENOTSOCK || errno == EBADF
                 ? kernel_answer(errno)
                 : process::system_error("asking what a socket is", errno);
    }
  }
  return facts;
}

Result<std::string> socket_name(const process::Fd& socket) {
  sockaddr_storage name{};
  socklen_t size = sizeof name;
  if (::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&name), &size) != 0) {
    return process::system_error("asking for the name of a socket", errno);
  }
  return std::string(reinterpret_cast<const char*>(&name), size);
}

Result<CallerStatus> parse_caller_status(std::string_view text) {
  const std::vector<std::uint64_t> uids = numbers(field(text, "Uid").value_or(""), 10);
  const std::vector<std::uint64_t> gids = numbers(field(text, "Gid").value_or(""), 10);
  const std::optional<std::string_view> groups = field(text, "Groups");
  const std::vector<std::uint64_t> mask = numbers(field(text, "Umask").value_or(""), 8);
  std::vector<std::uint64_t> sets;
  for (const std::string_view name : {"CapEff", "SigPnd", "ShdPnd", "SigBlk"}) {
    for (const std::uint64_t set : numbers(field(text, name).value_or(""), 16)) {
      sets.push_back(set);
    }
  }
  if (uids.size() != 4 || gids.size() != 4 || !groups || mask.size() != 1 || sets.size() != 4) {
    return Error(ErrorCode::kMalformed, "the caller's status cannot be read", EPERM);
  }
  CallerStatus status;
  status.credentials.uid = static_cast<std::uint32_t>(uids[1]);
  status.credentials.gid = static_cast<std::uint32_t>(gids[1]);
  for (const std::uint64_t group : numbers(*groups, 10)) {
    status.credentials.groups.push_back(static_cast<std::uint32_t>(group));
  }
  status.credentials.capabilities = sets[0];
  status.plain = uids[1] == uids[3] && gids[1] == gids[3];
  status.mode_mask = static_cast<std::uint32_t>(mask[0]);
  status.waiting_signals = (sets[1] | sets[2]) & ~sets[3];
  return status;
}

Result<CallerStatus> read_caller_status(pid_t tid) {
  return parse_caller_status(
      AASM_TRY(process::read_small_file("/proc/" + std::to_string(tid) + "/status")));
}

Result<process::Fd> caller_directory(pid_t tid) {
  const std::string process = "/proc/" + std::to_string(tid);
  struct stat theirs {};
  struct stat ours {};
  if (::stat((process + "/root").c_str(), &theirs) != 0 || ::stat("/", &ours) != 0) {
    return process::system_error("the caller's root", errno);
  }
  if (theirs.st_dev != ours.st_dev || theirs.st_ino != ours.st_ino) {
    return Error(ErrorCode::kPermissionDenied, "the caller's root is not ours", EPERM);
  }
  return process::open_file(process + "/cwd", O_PATH | O_DIRECTORY);
}

}  // namespace aasm::backend_native
