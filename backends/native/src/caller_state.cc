#include "caller_state.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>
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

}  // namespace

// Of the thread itself, which may have descriptors of its own; before 6.9 of its process.
Result<process::Fd> open_caller(pid_t tid) {
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

Result<process::Fd> take_descriptor(pid_t tid, int number) {
  if (number < 0) {
    return kernel_answer(EBADF);
  }
  return take_descriptor(AASM_TRY(open_caller(tid)), number);
}

Result<process::Fd> take_descriptor(const process::Fd& caller, int number) {
  if (number < 0) {
    return kernel_answer(EBADF);
  }
  Result<process::Fd> taken = process::pidfd_getfd(caller.borrow(), number);
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

namespace {

// The lines that are needed, and in which base their numbers are.
enum Line : std::size_t {
  kUid,
  kGid,
  kGroups,
  kUmask,
  kCapEff,
  kSigPnd,
  kShdPnd,
  kSigBlk,
  kNumLines
};
constexpr std::array<std::pair<std::string_view, int>, kNumLines> kLines = {{{"Uid", 10},
                                                                             {"Gid", 10},
                                                                             {"Groups", 10},
                                                                             {"Umask", 8},
                                                                             {"CapEff", 16},
                                                                             {"SigPnd", 16},
                                                                             {"ShdPnd", 16},
                                                                             {"SigBlk", 16}}};
using Numbers = std::array<std::optional<std::vector<std::uint64_t>>, kNumLines>;

Result<void> take_line(std::string_view line, Numbers& numbers) {
  const std::string_view name = line.substr(0, line.find(':'));
  const auto* const wanted = std::find_if(
      kLines.begin(), kLines.end(), [name](const auto& known) { return known.first == name; });
  if (wanted == kLines.end()) {
    return {};
  }
  auto& taken = numbers.at(static_cast<std::size_t>(wanted - kLines.begin()));
  if (!taken) {
    taken = AASM_TRY(process::status_numbers(line, name, wanted->second));
  }
  return {};
}

// In one pass, since it is read for many calls.
Result<Numbers> needed_numbers(std::string_view text) {
  Numbers numbers;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    AASM_TRY(take_line(text.substr(at, end - at), numbers));
    at = end + 1;
  }
  return numbers;
}

bool has_count(const Numbers& numbers, Line line, std::size_t count) {
  return numbers.at(line) && numbers.at(line)->size() == count;
}

}  // namespace

Result<CallerStatus> parse_caller_status(std::string_view text) {
  const Numbers numbers = AASM_TRY(needed_numbers(text));
  const bool whole = has_count(numbers, kUid, 4) && has_count(numbers, kGid, 4) &&
                     numbers[kGroups] && has_count(numbers, kUmask, 1) &&
                     has_count(numbers, kCapEff, 1) && has_count(numbers, kSigPnd, 1) &&
                     has_count(numbers, kShdPnd, 1) && has_count(numbers, kSigBlk, 1);
  if (!whole) {
    return Error(ErrorCode::kMalformed, "the caller's status cannot be read", EPERM);
  }
  const std::vector<std::uint64_t>& uids = *numbers[kUid];
  const std::vector<std::uint64_t>& gids = *numbers[kGid];
  CallerStatus status;
  status.credentials.uid = static_cast<std::uint32_t>(uids[1]);
  status.credentials.gid = static_cast<std::uint32_t>(gids[1]);
  for (const std::uint64_t group : *numbers[kGroups]) {
    status.credentials.groups.push_back(static_cast<std::uint32_t>(group));
  }
  status.credentials.capabilities = numbers[kCapEff]->front();
  status.plain = uids[1] == uids[3] && gids[1] == gids[3];
  status.mode_mask = static_cast<std::uint32_t>(numbers[kUmask]->front());
  status.waiting_signals =
      (numbers[kSigPnd]->front() | numbers[kShdPnd]->front()) & ~numbers[kSigBlk]->front();
  return status;
}

Result<CallerStatus> read_caller_status(pid_t tid) {
  return parse_caller_status(
      AASM_TRY(process::read_small_file("/proc/" + std::to_string(tid) + "/status")));
}

namespace {

Result<void> check_root(const std::string& process) {
  struct stat theirs {};
  struct stat ours {};
  if (::stat((process + "/root").c_str(), &theirs) != 0 || ::stat("/", &ours) != 0) {
    return process::system_error("the caller's root", errno);
  }
  if (theirs.st_dev != ours.st_dev || theirs.st_ino != ours.st_ino) {
    return Error(ErrorCode::kPermissionDenied, "the caller's root is not ours", EPERM);
  }
  return {};
}

}  // namespace

Result<process::Fd> caller_root(pid_t tid) {
  AASM_TRY(check_root("/proc/" + std::to_string(tid)));
  return process::open_file("/", O_PATH | O_DIRECTORY);
}

Result<process::Fd> caller_directory(pid_t tid) {
  const std::string process = "/proc/" + std::to_string(tid);
  AASM_TRY(check_root(process));
  return process::open_file(process + "/cwd", O_PATH | O_DIRECTORY);
}

}  // namespace aasm::backend_native
