#include "helper_client.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <thread>
#include <utility>

#include "aasm/process/descendants.h"
#include "aasm/process/pidfd.h"

#include "remedy.h"
#include "warden_channel.h"

namespace aasm::backend_native {

namespace {

using process::Fd;
using schema::Error;
using schema::ErrorCode;
using schema::Result;
using wire::Step;
using wire::StepState;
using Clock = std::chrono::steady_clock;
using Millis = std::chrono::milliseconds;

constexpr const char* kStarting = "starting the launch helper";

Millis left_until(Clock::time_point deadline) {
  return std::max(std::chrono::duration_cast<Millis>(deadline - Clock::now()), Millis(0));
}

std::vector<process::DescriptorMapping> descriptor_map(const HelperSpec& spec,
                                                       const FrameDescriptors& own, int frame_fd) {
  std::vector<process::DescriptorMapping> map;
  const auto pass = [&](int fd) {
    if (fd >= 0) {
      map.push_back({fd, fd});
    }
  };
  for (const int fd : {own.status, own.report, own.socket, own.broker, frame_fd, spec.frame.exec_fd,
                       spec.frame.cwd_fd}) {
    pass(fd);
  }
  for (const auto& ruleset : spec.frame.rulesets) {
    pass(ruleset.fd);
  }
  for (const int fd : spec.frame.descriptors) {
    pass(fd);
  }
  for (const int fd : spec.passed_unlisted) {
    pass(fd);
  }
  return map;
}

}  // namespace

HelperClient::HelperClient(StatusView status, std::size_t num_entries)
    : status_(std::move(status)), num_entries_(num_entries) {}

Result<HelperClient> HelperClient::spawn(const HelperSpec& spec, Timeout timeout) {
  HelperClient client = AASM_TRY(begin(spec));
  AASM_TRY(client.wait_started(timeout));
  return client;
}

Result<HelperClient> HelperClient::begin(const HelperSpec& spec) {
  AASM_TRY(process::become_subreaper());
  HelperClient client(AASM_TRY(StatusView::create()), spec.frame.script.size());
  client.earlier_children_ = AASM_TRY(process::list_children());
  AASM_TRY_CONTEXT(client.start(spec), kStarting);
  return client;
}

Result<void> HelperClient::start(const HelperSpec& spec) {
  process::Pipe pipe = AASM_TRY(process::make_pipe());
  process::SocketPair sockets = AASM_TRY(process::make_seqpacket_pair());
  process::SocketPair broker;
  if (spec.frame.broker) {
    broker = AASM_TRY(process::make_seqpacket_pair());
  }
  const FrameDescriptors own = {status_.fd().get(), pipe.write_end.get(), sockets.theirs.get(),
                                broker.theirs.get()};
  const schema::Bytes bytes = AASM_TRY(build_frame(spec.frame, own));
  const Fd frame = AASM_TRY(process::make_sealed_memfd("aasm-frame", bytes));
  process::SpawnRequest request;
  request.program = spec.helper;
  request.argv = {"aasm-launch-helper", std::to_string(frame.get())};
  request.descriptors = descriptor_map(spec, own, frame.get());
  request.signals = process::SpawnSignals::kBlockAll;
  warden_ = AASM_TRY(process::spawn(request));
  socket_ = std::move(sockets.ours);
  report_pipe_ = std::move(pipe.read_end);
  broker_socket_ = std::move(broker.ours);
  // Ours are the only ends that stay in this process: the ends of file depend on that.
  pipe.write_end.reset();
  sockets.theirs.reset();
  broker.theirs.reset();
  return {};
}

Result<void> HelperClient::await_child(Timeout timeout) {
  const auto received = receive(timeout);
  if (!received) {
    return startup_error();
  }
  if (!*received || child_pid_ <= 0) {
    return Error(ErrorCode::kUnavailable, "the launch helper did not report its child in time");
  }
  return {};
}

Result<void> HelperClient::wait_started(Timeout timeout) {
  AASM_TRY_CONTEXT(await_child(timeout), kStarting);
  return {};
}

// The helper ended before it had a child.
Error HelperClient::startup_error() {
  const auto step = status_.failed_step();
  if (!step) {
    // The end of file on the socket comes a moment before the end of the process.
    constexpr Millis kPatience(1000);
    const Result<bool> ended = process::wait_ended(warden_.pidfd.borrow(), kPatience);
    siginfo_t end{};
    const int how = WEXITED | WNOWAIT;
    const bool killed = ended && *ended &&
                        ::waitid(P_PID, static_cast<id_t>(warden_.pid), &end, how) == 0 &&
                        end.si_pid == warden_.pid && end.si_code != CLD_EXITED;
    return killed ? Error(ErrorCode::kUnavailable,
                          "the launch helper was killed by signal " + std::to_string(end.si_status))
                  : Error(ErrorCode::kInternal, "the launch helper refused its frame");
  }
  return process::system_error(std::string("step ") + wire::step_name(*step),
                               status_.report(*step).os_errno);
}

HelperClient::~HelperClient() {
  if (!warden_.pidfd.valid()) {
    return;
  }
  constexpr Millis kPatience(5000);
  if (!tree_gone_) {
    // There is nobody left to tell; the warden goes on trying when the socket closes.
    const auto killed = kill_tree(kPatience);
    static_cast<void>(killed.has_value());
  }
  end_warden();
}

// Watches the page until the filter is on.
Result<void> HelperClient::await_filter(Timeout timeout) {
  const auto begin = Clock::now();
  for (;;) {
    const StepState state = status_.state(Step::kSeccomp);
    if (state == StepState::kDone || state == StepState::kNotRequested) {
      return {};
    }
    const bool ended = AASM_TRY(process::wait_ended(child_pidfd_.borrow(), Millis(0)));
    if (state == StepState::kFailed || (ended && status_.state(Step::kSeccomp) == state)) {
      return Error(ErrorCode::kUnavailable, "the launch child ended before the filter was on");
    }
    const auto waited = Clock::now() - begin;
    if (waited >= timeout) {
      return Error(ErrorCode::kUnavailable, "the filter was not on in time");
    }
    // Installing takes some fifty microseconds, and a sleep, however short, as long again.
    if (waited < std::chrono::microseconds(200)) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }
}

Result<std::optional<Fd>> HelperClient::wait_filter_installed(Timeout timeout) {
  const auto deadline = Clock::now() + timeout;
  // One byte announces the filter; the end of file means that the child is gone.
  if (!AASM_TRY(process::wait_readable(report_pipe_.borrow(), timeout))) {
    return Error(ErrorCode::kUnavailable, "the launch child did not come to the filter in time");
  }
  AASM_TRY(await_filter(left_until(deadline)));
  const int number = status_.listener_fd();
  if (number < 0) {
    return std::optional<Fd>();
  }
  Result<Fd> listener = process::pidfd_getfd(child_pidfd_.borrow(), number);
  if (!listener) {
    const int os_errno = listener.error().os_errno();
    return Error(listener.error().code(),
                 "taking the listener: " + listener.error().message() + listener_remedy(os_errno),
                 os_errno);
  }
  return std::optional<Fd>(std::move(*listener));
}

HelperResults HelperClient::results() const {
  HelperResults results;
  for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(Step::kCount); ++i) {
    results.steps.push_back(status_.report(static_cast<Step>(i)));
  }
  for (std::size_t i = 0; i < num_entries_; ++i) {
    results.script.push_back(status_.script_result(i));
  }
  results.failed_step = status_.failed_step();
  results.exec_errno = status_.exec_errno();
  if (status_.state(Step::kSeccomp) == StepState::kDone) {
    results.seccomp_flags = status_.report(Step::kSeccomp).detail;
  }
  return results;
}

Result<bool> HelperClient::receive(Timeout timeout) {
  if (!AASM_TRY(process::wait_readable(socket_.borrow(), timeout))) {
    return false;
  }
  ReceivedMessage received = AASM_TRY(receive_message(socket_.borrow()));
  AASM_TRY(accept(received.message, std::move(received.descriptor)));
  return true;
}

Result<void> HelperClient::accept(const wire::WardenMessage& message, Fd descriptor) {
  switch (static_cast<wire::WardenMessageKind>(message.kind)) {
    case wire::WardenMessageKind::kChildStarted:
      if (!descriptor.valid() || message.pid <= 0) {
        break;
      }
      child_pid_ = message.pid;
      child_pidfd_ = std::move(descriptor);
      return {};
    case wire::WardenMessageKind::kChildEnded:
      child_exit_ =
          ChildExit{message.wait_status, message.user_us, message.system_us, message.max_rss_kib};
      return {};
    case wire::WardenMessageKind::kChildStopped:
      stop_signal_ = WSTOPSIG(message.wait_status);
      return {};
    case wire::WardenMessageKind::kTreeGone:
      tree_gone_ = message.num_killed;
      return {};
    case wire::WardenMessageKind::kKillTree:
      break;
  }
  return Error(ErrorCode::kInternal, "unknown message from the warden");
}

Result<std::optional<ChildExit>> HelperClient::wait_exit(Timeout timeout) {
  const auto deadline = Clock::now() + timeout;
  while (!child_exit_ && AASM_TRY(receive(left_until(deadline)))) {
  }
  return child_exit_;
}

ChildState HelperClient::take_state() {
  for (;;) {
    const Result<bool> received = receive(Millis(0));
    if (!received || child_exit_) {
      return {true, 0};
    }
    if (!*received) {
      return {false, std::exchange(stop_signal_, 0)};
    }
  }
}

Result<std::uint32_t> HelperClient::kill_tree(Timeout timeout) {
  const auto deadline = Clock::now() + timeout;
  tree_gone_.reset();
  if (!send_kill_order(socket_.borrow())) {
    return kill_tree_without_warden(timeout);
  }
  while (!tree_gone_) {
    reap_tracee();
    constexpr Millis kRound(2);
    const auto received = receive(kRound);
    if (!received) {
      return kill_tree_without_warden(left_until(deadline));
    }
    if (!tree_gone_ && Clock::now() >= deadline) {
      return Error(ErrorCode::kUnavailable,
                   "processes of the tree are left after the time allowed");
    }
  }
  return *tree_gone_;
}

// With the warden dead, its children are ours: spawn() made this process a subreaper.
// The warden is gone, so its children are ours; the broker is no descendant of the program's.
void HelperClient::end_broker() const {
  const pid_t broker = broker_pid();
  if (broker > 0 && ::waitpid(broker, nullptr, WNOHANG) == 0) {
    ::kill(broker, SIGKILL);
    ::waitpid(broker, nullptr, 0);
  }
}

Result<std::uint32_t> HelperClient::kill_tree_without_warden(Timeout timeout) {
  reap_tracee();
  end_warden();
  end_broker();
  const std::size_t killed = AASM_TRY_CONTEXT(process::kill_descendants(earlier_children_, timeout),
                                              "killing the tree without its warden");
  tree_gone_ = static_cast<std::uint32_t>(killed);
  return *tree_gone_;
}

void HelperClient::dismiss_warden() {
  if (tree_gone_) {
    socket_.reset();
  }
}

// The end of the socket ends the warden; it has nothing left to kill, or is dead already.
void HelperClient::end_warden() {
  if (!warden_.pidfd.valid()) {
    return;
  }
  socket_.reset();
  constexpr Millis kPatience(1000);
  const auto ended = process::wait_ended(warden_.pidfd.borrow(), kPatience);
  if (!ended || !*ended) {
    const auto sent = process::send_signal(warden_.pidfd.borrow(), SIGKILL);
    static_cast<void>(sent.has_value());
  }
  ::waitpid(warden_.pid, nullptr, 0);
  warden_.pidfd.reset();
}

}  // namespace aasm::backend_native
