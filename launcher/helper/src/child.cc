#include "child.h"

#include "canary.h"
#include "install.h"
#include "report.h"
#include "sys.h"
#include "target.h"

namespace aasm::helper {

namespace {

// Written by the kernel at each fork, so that the inside half needs no getpid(2).
int current_pid;

void run_controls(const Frame& frame, wire::StatusPage& page, long warden_pid) {
  if (frame.num_entries == 0) {
    report(page, wire::Step::kControls, not_requested());
    return;
  }
  report_started(page, wire::Step::kControls);
  run_script(frame, page, Half::kControl, {current_pid, warden_pid});
  report(page, wire::Step::kControls, done());
}

// Runs the inside half `depth` processes further down. Returns 0 or a negative errno.
long run_inside(const Frame& frame, wire::StatusPage& page, long warden_pid, uint32_t depth) {
  if (depth == 0) {
    page.inside_pid = current_pid;
    run_script(frame, page, Half::kInside, {current_pid, warden_pid});
    return 0;
  }
  const long pid = fork_process(&current_pid, nullptr);
  if (pid < 0) {
    return pid;
  }
  if (pid == 0) {
    exit_process(run_inside(frame, page, warden_pid, depth - 1) == 0 ? 0 : 1);
  }
  int status = 0;
  const long waited = wait_process(pid, &status, 0, nullptr);
  if (waited < 0) {
    return waited;
  }
  return status == 0 ? 0 : -kEchild;
}

void run_canaries(const Frame& frame, wire::StatusPage& page, long warden_pid) {
  if (frame.num_entries == 0) {
    report(page, wire::Step::kCanaries, not_requested());
    return;
  }
  report_started(page, wire::Step::kCanaries);
  const long result = run_inside(frame, page, warden_pid, frame.header->fork_depth);
  report_or_exit(page, wire::Step::kCanaries, result < 0 ? failed(result) : done());
}

long rendezvous(wire::RendezvousPhase phase) {
  return raw_call(wire::kRendezvousCall, static_cast<long>(phase));
}

[[noreturn]] void become_program(const Frame& frame, wire::StatusPage& page) {
  report_started(page, wire::Step::kExec);
  const long result = execute(frame);
  page.exec_errno = static_cast<int>(-result);
  report_or_exit(page, wire::Step::kExec, failed(result));
  exit_process(wire::kHelperExitStatus);
}

}  // namespace

int* child_pid_slot() {
  return &current_pid;
}

void run_child(const Frame& frame, wire::StatusPage& page, int warden_pid) {
  close_fd(frame.header->socket_fd);
  if (frame.header->role == static_cast<uint32_t>(wire::Role::kUnconfined)) {
    set_up_unconfined(frame, page);
    become_program(frame, page);
  }
  run_controls(frame, page, warden_pid);
  install_boundary(frame, page);
  const int listener = install_filter(frame, page);
  const bool has_filter = frame.num_instructions != 0;
  if (has_filter) {
    // Not answered 0 without a listener. The canaries run all the same: they are what tells the
    // supervisor that the filter is missing. Nothing goes on behind the second rendezvous.
    rendezvous(wire::RendezvousPhase::kCanaries);
  }
  if (listener >= 0) {
    // With our copy closed, the supervisor's end means ENOSYS here instead of waiting for ever.
    close_fd(listener);
  }
  run_canaries(frame, page, warden_pid);
  if (has_filter) {
    report_started(page, wire::Step::kGo);
    const long answer = rendezvous(wire::RendezvousPhase::kProgram);
    report_or_exit(page, wire::Step::kGo, answer == 0 ? done() : failed(answer));
  }
  if (frame.header->role == static_cast<uint32_t>(wire::Role::kProbe)) {
    exit_process(0);
  }
  become_program(frame, page);
}

}  // namespace aasm::helper
