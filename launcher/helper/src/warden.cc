#include "warden.h"

#include <linux/fcntl.h>
#include <linux/prctl.h>

#include "descendants.h"
#include "install.h"
#include "sys.h"
#include "warden_socket.h"

namespace aasm::helper {

namespace {

constexpr int kNoHang = 1;
constexpr int kUntraced = 2;            // WUNTRACED: stops too
constexpr int kContinued = 8;           // WCONTINUED
constexpr int kWaitAll = 0x40000000;    // __WALL
constexpr int kNonBlocking = 04000;     // SFD_NONBLOCK
constexpr int kCloseOnExec = 02000000;  // SFD_CLOEXEC
constexpr int kSigkill = 9;
constexpr int kSigcont = 18;

// The head of struct rusage: two struct timeval, then ru_maxrss.
struct Usage {
  int64_t user_sec, user_us, system_sec, system_us, max_rss_kib;
  int64_t rest[13];
};

struct PollEntry {
  int fd;
  short events;
  short revents;
};
constexpr short kPollIn = 1;

// Waits for one of the descriptors; forever when `timeout_ms` is negative.
void poll_for(PollEntry* entries, long count, long timeout_ms) {
  const int64_t timeout[2] = {0, timeout_ms * 1000000};
  raw_call(__NR_ppoll, address(entries), count, timeout_ms < 0 ? 0 : address(timeout), 0, 0);
}

void drain_signals(const Warden& warden) {
  char buffer[512];
  while (read_fd(warden.signal_fd, buffer, sizeof(buffer)) > 0) {
  }
}

wire::WardenMessage end_message(int pid, int status, const Usage& usage) {
  wire::WardenMessage message = new_message(wire::WardenMessageKind::kChildEnded, pid);
  message.wait_status = status;
  message.user_us = usage.user_sec * 1000000 + usage.user_us;
  message.system_us = usage.system_sec * 1000000 + usage.system_us;
  message.max_rss_kib = usage.max_rss_kib;
  return message;
}

bool is_stop(int status) {
  return (status & 0xFF) == 0x7F;
}
bool is_continuation(int status) {
  return status == 0xFFFF;
}

// A supervisor that stopped with the program, as a member of a pipeline does, goes on with it,
// whoever continued it: the program's calls want answers.
void tell_stop_or_continuation(const Warden& warden, int status) {
  if (is_stop(status)) {
    wire::WardenMessage message =
        new_message(wire::WardenMessageKind::kChildStopped, warden.child_pid);
    message.wait_status = status;
    send_message(warden.socket_fd, message);
  } else if (raw_call(__NR_getppid) == warden.supervisor_pid) {
    raw_call(__NR_kill, warden.supervisor_pid, kSigcont);
  }
}

struct Reaped {
  bool none_left;
  uint32_t num_killed;  // of those that are not the launch child
};

// Reaps whatever has ended and reports the launch child's end, and its stops.
Reaped reap(Warden& warden) {
  Reaped reaped = {false, 0};
  for (;;) {
    int status = 0;
    Usage usage = {};
    const long pid = wait_process(-1, &status, kNoHang | kWaitAll | kUntraced | kContinued, &usage);
    if (pid == -kEchild) {
      reaped.none_left = true;
    }
    if (pid <= 0) {
      return reaped;
    }
    if (is_stop(status) || is_continuation(status)) {
      if (pid == warden.child_pid) {
        tell_stop_or_continuation(warden, status);
      }
      continue;
    }
    if (pid == warden.child_pid) {
      warden.child_pid = 0;
      send_message(warden.socket_fd, end_message(static_cast<int>(pid), status, usage));
    } else if ((status & 0x7F) == kSigkill && pid != *warden.broker_pid) {
      ++reaped.num_killed;
    }
  }
}

// Kills every descendant until the kernel knows of no child. Orphans come to us, so that "no child"
// means "no descendant"; whoever forks while we look is found in the next round. The broker goes
// last: while callers are left, it answers them.
void kill_tree(Warden& warden) {
  wire::WardenMessage message = new_message(wire::WardenMessageKind::kTreeGone, 0);
  for (;;) {
    const long result = kill_descendants(warden.proc_fd, warden.children_fd, *warden.broker_pid);
    if (result < 0) {
      message.os_errno = static_cast<int32_t>(-result);
    }
    const Reaped reaped = reap(warden);
    message.num_killed += reaped.num_killed;
    if (reaped.none_left) {
      break;
    }
    PollEntry entry = {warden.signal_fd, kPollIn, 0};
    constexpr long kRoundMs = 2;
    poll_for(&entry, 1, kRoundMs);
    drain_signals(warden);
  }
  send_message(warden.socket_fd, message);
}

}  // namespace

Outcome prepare_warden(const Frame& frame, Warden& warden) {
  warden.socket_fd = frame.header->socket_fd;
  warden.supervisor_pid = raw_call(__NR_getppid);
  long result = process_control(PR_SET_CHILD_SUBREAPER, 1);
  if (result < 0) {
    return failed(result);
  }
  process_control(PR_SET_NAME, address("aasm-warden"));
  // Where a caller of ours ignores SIGCHLD, the kernel reaps our children and their status is lost.
  constexpr int kSigchld = 17;
  const uint64_t action[4] = {};  // struct kernel_sigaction: the default
  result = raw_call(__NR_rt_sigaction, kSigchld, address(action), 0, sizeof(uint64_t));
  if (result < 0) {
    return failed(result);
  }
  const uint64_t mask = 1U << (kSigchld - 1);
  result = raw_call(__NR_signalfd4, -1, address(&mask), sizeof(mask), kNonBlocking | kCloseOnExec);
  if (result < 0) {
    return failed(result);
  }
  warden.signal_fd = static_cast<int>(result);
  result = open_process_list(warden.proc_fd, warden.children_fd);
  return result < 0 ? failed(result) : done();
}

void run_warden(Warden& warden, int child_pidfd) {
  // A pipe of the user's must see its end when the program closes it; so we hold nothing. The
  // launch child goes on once the supervisor knows it, and then the end of the report pipe is its
  // exec.
  int32_t keep[] = {warden.socket_fd, warden.signal_fd, warden.proc_fd, warden.children_fd,
                    child_pidfd};
  sort_ascending(keep, 5);
  close_all_except(keep, 5);
  // Of the same uid as the workload, but not its to read; Landlock says so too.
  process_control(PR_SET_DUMPABLE, 0);
  wire::WardenMessage started =
      new_message(wire::WardenMessageKind::kChildStarted, warden.child_pid);
  bool supervised = send_descriptor(warden.socket_fd, started, child_pidfd);
  close_fd(child_pidfd);
  while (supervised) {
    PollEntry entries[2] = {{warden.socket_fd, kPollIn, 0}, {warden.signal_fd, kPollIn, 0}};
    poll_for(entries, 2, -1);
    if (entries[1].revents != 0) {
      drain_signals(warden);
      reap(warden);
    }
    if (entries[0].revents != 0) {
      supervised = receive_kill_order(warden.socket_fd);
      if (supervised) {
        kill_tree(warden);
      }
    }
  }
  kill_tree(warden);
  exit_process(0);
}

}  // namespace aasm::helper
