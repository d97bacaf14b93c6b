#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "aasm/process/fd.h"
#include "aasm/process/spawn.h"
#include "aasm/schema/result.h"
#include "aasm/wire/helper_wire.h"

#include "helper_frame.h"
#include "status_view.h"

// The supervisor's side of one launch helper.
namespace aasm::backend_native {

struct HelperSpec {
  process::BorrowedFd helper{-1};  // the executable
  FrameSpec frame;
  std::vector<int>
      passed_unlisted;  // also passed under their numbers, but not in frame.descriptors
};

// How the launch child, or the program it became, ended.
struct ChildExit {
  int wait_status = 0;  // as of wait4(2)
  std::int64_t user_us = 0;
  std::int64_t system_us = 0;
  std::int64_t max_rss_kib = 0;
};

// Whether the child has ended (or its warden is gone), else the signal that stopped it since this
// was last asked, or 0.
struct ChildState {
  bool ended = false;
  int stop_signal = 0;
};

// What the reported steps and calls came to so far. A copy.
struct HelperResults {
  std::vector<wire::StepReport> steps;         // index: wire::Step
  std::vector<wire::ScriptResult> script;      // one per entry of the frame's script
  std::optional<wire::Step> failed_step;       // the first
  int exec_errno = 0;                          // of a failed exec
  std::optional<std::uint32_t> seccomp_flags;  // that the kernel took

  bool came_to(wire::Step step) const {
    const std::uint32_t state = steps.at(static_cast<std::size_t>(step)).state;
    return state != static_cast<std::uint32_t>(wire::StepState::kPending);
  }
};

// The program at its exec stop.
struct ExecStop {
  process::Fd exe;   // what /proc/PID/exe named, open for reading
  std::string path;  // its name as /proc/PID/exe gives it
  std::uint64_t start_time_ticks = 0;
};

// One helper process, which is the warden, and its launch child. Order of use: spawn(),
// wait_filter_installed() and from there on answer the listener, results(), seize(), let the
// channel answer the second rendezvous (that is "go"), wait_exec_stop(), detach(), wait_exit(),
// kill_tree(). Every step but spawn() can be left out. One thread: ptrace(2) belongs to a thread.
// Destroying it kills the tree and reaps the warden. Where the warden itself has been killed, every
// child of this process is killed, which is why spawn() makes the process a subreaper; so no other
// child of it may be running then.
class HelperClient {
 public:
  using Timeout = std::chrono::milliseconds;

  // Starts the helper and waits for the launch child's pid. The error of a frame or warden step
  // that failed names the step and carries its errno; no process is left then.
  static schema::Result<HelperClient> spawn(const HelperSpec& spec, Timeout timeout);
  // The two halves of it, for whoever has something to do in between. Of what begin() yields
  // nothing else is to be called before wait_started().
  static schema::Result<HelperClient> begin(const HelperSpec& spec);
  schema::Result<void> wait_started(Timeout timeout);

  HelperClient(HelperClient&&) noexcept = default;
  HelperClient& operator=(HelperClient&&) = delete;
  HelperClient(const HelperClient&) = delete;
  HelperClient& operator=(const HelperClient&) = delete;
  ~HelperClient();

  // Waits until the filter is on and takes the listener from the child. Empty when the helper says
  // that the filter is on although it has no listener, as with a probe that asked for none: then
  // nothing reports, and only the canaries can tell. kUnavailable when the child ended before or
  // the timeout passed; results() tells the step.
  schema::Result<std::optional<process::Fd>> wait_filter_installed(Timeout timeout);

  HelperResults results() const;

  pid_t child_pid() const { return child_pid_; }
  pid_t warden_pid() const { return warden_.pid; }
  // 0 without a broker, and before it has been started.
  pid_t broker_pid() const { return status_.broker_pid(); }
  // Our end of the broker's socket, once; end of file when the broker is gone.
  process::Fd take_broker_socket() { return std::move(broker_socket_); }
  process::BorrowedFd child_pidfd() const { return child_pidfd_.borrow(); }

  // Read end of the child's report pipe: end of file once the program has been executed, or once
  // the child is gone (ask results().exec_errno and child_ended()). take_report_pipe() hands it
  // over.
  process::BorrowedFd report_pipe() const { return report_pipe_.borrow(); }
  process::Fd take_report_pipe() { return std::move(report_pipe_); }

  // Poll-readable when the child has ended, and hung up when the warden is gone.
  process::BorrowedFd exit_fd() const { return socket_.borrow(); }

  // Attaches for the exec stop; the child runs on. An error (EPERM) is no failure of the launch.
  schema::Result<void> seize();

  // After "go": waits for the stop behind the exec. kUnavailable when the exec failed or the child
  // ended instead, or the timeout passed; the child is still attached in the last case.
  schema::Result<ExecStop> wait_exec_stop(Timeout timeout);

  // Lets the stopped program run, untraced.
  schema::Result<void> detach();

  // The child's end, when it is known within the timeout. An error means that the warden is gone.
  schema::Result<std::optional<ChildExit>> wait_exit(Timeout timeout);

  // What is known of the program now. Takes the messages that wait; an error of the socket counts
  // as its end.
  ChildState take_state();

  // After kill_tree(): lets the warden end while the caller goes on. exit_fd() is gone then.
  void dismiss_warden();

  // Kills every process of the tree until none is left. Yields how many descendants of the child
  // died of it. kUnavailable when some are left after the timeout.
  schema::Result<std::uint32_t> kill_tree(Timeout timeout);

 private:
  HelperClient(StatusView status, std::size_t num_entries);

  schema::Result<void> start(const HelperSpec& spec);
  schema::Result<void> await_child(Timeout timeout);
  schema::Error startup_error();
  schema::Result<void> await_filter(Timeout timeout);

  // Takes one message if one comes within the timeout. False when none came; an Error at the end of
  // file.
  schema::Result<bool> receive(Timeout timeout);
  schema::Result<void> accept(const wire::WardenMessage& message, process::Fd descriptor);
  schema::Result<std::uint32_t> kill_tree_without_warden(Timeout timeout);
  void reap_tracee();
  void end_warden();
  void end_broker() const;

  StatusView status_;
  std::size_t num_entries_ = 0;
  std::vector<pid_t> earlier_children_;  // of this process, before spawn()
  process::SpawnedProcess warden_;       // owned while its pidfd is valid
  process::Fd socket_;
  process::Fd report_pipe_;
  process::Fd broker_socket_;
  pid_t child_pid_ = -1;
  process::Fd child_pidfd_;
  bool traced_ = false;
  std::optional<ChildExit> child_exit_;
  int stop_signal_ = 0;                     // not yet taken
  std::optional<std::uint32_t> tree_gone_;  // descendants killed
};

}  // namespace aasm::backend_native
