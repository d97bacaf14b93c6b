#include "child.h"
#include "report.h"
#include "sys.h"
#include "warden.h"

AASM_HELPER_ENTRY;

namespace aasm::helper {

namespace {

// The frame's descriptor, from a decimal argument of at most six digits; -1 for anything else.
int parse_descriptor(const char* text) {
  int value = 0;
  int digits = 0;
  for (; text[digits] >= '0' && text[digits] <= '9' && digits < 6; ++digits) {
    value = value * 10 + (text[digits] - '0');
  }
  return digits > 0 && text[digits] == '\0' ? value : -1;
}

// From here on nothing of ours can reach the program by an exec.
bool seal_internal(const wire::FrameHeader& header, int frame_fd) {
  int32_t list[kMaxInternal + 1] = {frame_fd};
  const uint32_t count = 1 + internal_descriptors(header, list + 1);
  for (uint32_t i = 0; i < count; ++i) {
    if (control_fd(list[i], 1) < 0 || set_cloexec(list[i]) < 0) {
      return false;
    }
  }
  return true;
}

[[noreturn]] void run(int frame_fd) {
  Frame frame = {};
  if (frame_fd < 0 || !load_frame(frame_fd, frame) || !seal_internal(*frame.header, frame_fd)) {
    exit_process(wire::kHelperExitStatus);
  }
  wire::StatusPage* page = load_status(frame);
  if (page == nullptr) {
    exit_process(wire::kHelperExitStatus);
  }
  Warden warden = {};
  page->warden_pid = static_cast<int>(own_pid());
  report_started(*page, wire::Step::kWarden);
  report_or_exit(*page, wire::Step::kWarden, prepare_warden(frame, warden));
  int pidfd = -1;
  const long pid = fork_process(child_pid_slot(), &pidfd);
  if (pid < 0) {
    report_or_exit(*page, wire::Step::kWarden, failed(pid));
  }
  if (pid == 0) {
    run_child(frame, *page, page->warden_pid);
  }
  warden.child_pid = static_cast<int>(pid);
  page->child_pid = warden.child_pid;
  warden.broker_pid = &page->broker_pid;
  run_warden(warden, pidfd);
}

}  // namespace

}  // namespace aasm::helper

// `stack` is what the kernel left: argc, then the argument pointers (execve(2), auxiliary vector).
extern "C" [[noreturn]] void helper_main(const long* stack) {
  // SAFETY: the kernel put argc pointers behind argc.
  const auto* argv = reinterpret_cast<const char* const*>(stack + 1);
  aasm::helper::run(stack[0] == 2 ? aasm::helper::parse_descriptor(argv[1]) : -1);
}
