#include "caller_state.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include <netinet/in.h>

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

Result<InternetAddress> source_address(const InternetAddress& destination) {
  const int family = destination.v6 ? AF_INET6 : AF_INET;
  const process::Fd probe(::socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const std::vector<std::uint8_t> name = spell_address(destination, destination.v6);
  sockaddr_storage own{};
  socklen_t size = sizeof own;
  if (!probe ||
      ::connect(probe.get(), reinterpret_cast<const sockaddr*>(name.data()),
                static_cast<socklen_t>(name.size())) != 0 ||
      ::getsockname(probe.get(), reinterpret_cast<sockaddr*>(&own), &size) != 0) {
    return process::system_error("asking for the way to an address", errno);
  }
  InternetAddress source;
  source.v6 = destination.v6;
  if (source.v6) {
    std::memcpy(source.bytes.data(), &reinterpret_cast<const sockaddr_in6&>(own).sin6_addr, 16);
  } else {
    std::memcpy(source.bytes.data(), &reinterpret_cast<const sockaddr_in&>(own).sin_addr, 4);
  }
  return source;
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
  using process::status_numbers;
  const std::vector<std::uint64_t> uids = AASM_TRY(status_numbers(text, "Uid", 10));
  const std::vector<std::uint64_t> gids = AASM_TRY(status_numbers(text, "Gid", 10));
  const std::vector<std::uint64_t> groups = AASM_TRY(status_numbers(text, "Groups", 10));
  const std::vector<std::uint64_t> mask = AASM_TRY(status_numbers(text, "Umask", 8));
  std::vector<std::uint64_t> sets;
  for (const std::string_view name : {"CapEff", "SigPnd", "ShdPnd", "SigBlk"}) {
    const std::vector<std::uint64_t> set = AASM_TRY(status_numbers(text, name, 16));
    sets.insert(sets.end(), set.begin(), set.end());
  }
  if (uids.size() != 4 || gids.size() != 4 || mask.size() != 1 || sets.size() != 4) {
    return Error(ErrorCode::kMalformed, "the caller's status cannot be read", EPERM);
  }
  CallerStatus status;
  status.credentials.uid = static_cast<std::uint32_t>(uids[1]);
  status.credentials.gid = static_cast<std::uint32_t>(gids[1]);
  for (const std::uint64_t group : groups) {
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
