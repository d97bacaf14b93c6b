#include "install.h"

#include <linux/capability.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>

#include "broker.h"
#include "report.h"
#include "sys.h"
#include "target.h"

// Builds made for tests leave out one step and report it as done: the canary that watches the step
// must notice.
#ifndef AASM_HELPER_OMIT_DESCRIPTORS
#define AASM_HELPER_OMIT_DESCRIPTORS 0
#endif
#ifndef AASM_HELPER_OMIT_CAPABILITIES
#define AASM_HELPER_OMIT_CAPABILITIES 0
#endif
#ifndef AASM_HELPER_OMIT_LANDLOCK
#define AASM_HELPER_OMIT_LANDLOCK 0
#endif
#ifndef AASM_HELPER_OMIT_SECCOMP
#define AASM_HELPER_OMIT_SECCOMP 0
#endif

namespace aasm::helper {

namespace {

constexpr long kLandlockRestrictSelf = 446;  // the same on every machine
constexpr unsigned kWaitKillableRecv = 1U
                                       << 5;  // SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, Linux 5.19
constexpr uint32_t kMaxOpen = wire::kMaxDescriptors + kMaxInternal;

Outcome change_directory(const Frame& frame, wire::StatusPage& /*page*/) {
  if (frame.header->cwd_fd < 0) {
    return not_requested();
  }
  const long result = raw_call(__NR_fchdir, frame.header->cwd_fd);
  return result < 0 ? failed(result) : done();
}

Outcome set_no_new_privs(const Frame& /*frame*/, wire::StatusPage& /*page*/) {
  const long result = process_control(PR_SET_NO_NEW_PRIVS, 1);
  return result < 0 ? failed(result) : done();
}

// Adds `fd` to an ascending list.
void insert(int32_t* list, uint32_t& count, int32_t fd) {
  uint32_t at = count++;
  for (; at > 0 && list[at - 1] > fd; --at) {
    list[at] = list[at - 1];
  }
  list[at] = fd;
}

// What is still needed of ours is close-on-exec since the start of main.
Outcome close_descriptors(const Frame& frame, wire::StatusPage& /*page*/) {
  const auto& header = *frame.header;
  for (uint32_t i = 0; i < frame.num_descriptors; ++i) {
    constexpr int kGetFd = 1;
    const long result = control_fd(frame.descriptors[i], kGetFd);
    if (result < 0) {
      return failed(result, static_cast<uint32_t>(frame.descriptors[i]));
    }
  }
  if (AASM_HELPER_OMIT_DESCRIPTORS != 0) {
    return done();
  }
  int32_t keep[kMaxOpen];
  uint32_t count = 0;
  for (uint32_t i = 0; i < frame.num_descriptors; ++i) {
    keep[count++] = frame.descriptors[i];
  }
  const bool broker = (header.flags & wire::kFlagBroker) != 0;
  const int32_t ours[] = {header.report_fd, header.exec_fd, header.rulesets[0].fd,
                          header.rulesets[1].fd, broker ? header.broker_fd : -1};
  for (const int32_t fd : ours) {
    if (fd >= 0) {
      insert(keep, count, fd);
    }
  }
  const long result = close_all_except(keep, count);
  return result < 0 ? failed(result) : done();
}

Outcome set_resource_limits(const Frame& frame, wire::StatusPage& /*page*/) {
  for (uint32_t i = 0; i < frame.num_rlimits; ++i) {
    const auto& limit = frame.rlimits[i];
    const uint64_t pair[2] = {limit.soft, limit.hard};  // struct rlimit64
    const long result = raw_call(__NR_prlimit64, 0, limit.resource, address(pair), 0);
    if (result < 0) {
      return failed(result, limit.resource);
    }
  }
  return frame.num_rlimits == 0 ? not_requested() : done();
}

Outcome restore_signals(const Frame& frame, wire::StatusPage& /*page*/) {
  constexpr uint32_t kNumSignals = 64;
  constexpr uint32_t kSigkill = 9;
  constexpr uint32_t kSigstop = 19;
  for (uint32_t signal = 1; signal <= kNumSignals; ++signal) {
    if (signal == kSigkill || signal == kSigstop) {
      continue;
    }
    // struct kernel_sigaction: handler (0 default, 1 ignore), flags, restorer, mask.
    const uint64_t action[4] = {(frame.header->ignored_signals >> (signal - 1)) & 1U, 0, 0, 0};
    const long result = raw_call(__NR_rt_sigaction, signal, address(action), 0, sizeof(uint64_t));
    if (result < 0) {
      return failed(result, signal);
    }
  }
  constexpr int kSetMask = 2;
  const long result = raw_call(__NR_rt_sigprocmask, kSetMask, address(&frame.header->signal_mask),
                               0, sizeof(uint64_t));
  return result < 0 ? failed(result) : done();
}

// Leaves the bounding set only what is kept. The kernel says EINVAL behind its last capability.
Outcome cut_bounding_set(uint64_t keep) {
  for (uint32_t capability = 0; capability < 64; ++capability) {
    if (((keep >> capability) & 1U) != 0) {
      continue;
    }
    const long result = process_control(PR_CAPBSET_DROP, capability);
    if (result == -kEinval) {
      break;
    }
    if (result < 0) {
      return failed(result, capability);
    }
  }
  return done();
}

// The ambient set follows by itself: the kernel keeps it inside permitted and inheritable.
Outcome cut_capabilities(const Frame& frame, wire::StatusPage& /*page*/) {
  const auto& header = *frame.header;
  if ((header.flags & wire::kFlagCapabilities) == 0) {
    return not_requested();
  }
  if (AASM_HELPER_OMIT_CAPABILITIES != 0) {
    return done();
  }
  if ((header.flags & wire::kFlagBoundingSet) != 0) {
    const Outcome bounding = cut_bounding_set(header.keep_capabilities);
    if (bounding.state == wire::StepState::kFailed) {
      return bounding;
    }
  }
  const uint32_t head[2] = {_LINUX_CAPABILITY_VERSION_3, 0};  // struct __user_cap_header_struct
  uint32_t sets[2][3] = {};  // per half of the mask: effective, permitted, inheritable
  long result = raw_call(__NR_capget, address(head), address(&sets[0][0]));
  if (result < 0) {
    return failed(result);
  }
  for (uint32_t half = 0; half < 2; ++half) {
    const auto keep = static_cast<uint32_t>(header.keep_capabilities >> (32 * half));
    for (uint32_t& set : sets[half]) {
      set &= keep;
    }
  }
  result = raw_call(__NR_capset, address(head), address(&sets[0][0]));
  return result < 0 ? failed(result) : done();
}

Outcome check_identity(const Frame& frame, wire::StatusPage& /*page*/) {
  return check_target(frame);
}

Outcome restrict_by_landlock(const Frame& frame, uint32_t index) {
  const auto& ruleset = frame.header->rulesets[index];
  if (ruleset.fd < 0) {
    return not_requested();
  }
  if (AASM_HELPER_OMIT_LANDLOCK == 0) {
    const long result = raw_call(kLandlockRestrictSelf, ruleset.fd, ruleset.flags);
    if (result < 0) {
      return failed(result, index);
    }
  }
  close_fd(ruleset.fd);
  return done();
}
Outcome restrict_outer(const Frame& frame, wire::StatusPage& /*page*/) {
  return restrict_by_landlock(frame, 0);
}
Outcome restrict_inner(const Frame& frame, wire::StatusPage& /*page*/) {
  return restrict_by_landlock(frame, 1);
}

Outcome clone_broker(const Frame& frame, wire::StatusPage& page) {
  if ((frame.header->flags & wire::kFlagBroker) == 0) {
    return not_requested();
  }
  const long result = start_broker(frame, page);
  return result < 0 ? failed(result) : done();
}

struct InstallStep {
  wire::Step step;
  Outcome (*run)(const Frame& frame, wire::StatusPage& page);
};

// The order is part of the protection: descriptors while nothing is restricted, capabilities before
// the domains, the broker between them so that the program can neither trace nor signal it, limits
// behind the broker, which works for the whole tree, the domains before the filter.
constexpr InstallStep kSteps[] = {
    {wire::Step::kWorkingDirectory, change_directory},
    {wire::Step::kNoNewPrivs, set_no_new_privs},
    {wire::Step::kDescriptors, close_descriptors},
    {wire::Step::kSignals, restore_signals},
    {wire::Step::kCapabilities, cut_capabilities},
    {wire::Step::kTarget, check_identity},
    {wire::Step::kLandlock, restrict_outer},
    {wire::Step::kBroker, clone_broker},
    {wire::Step::kInnerLandlock, restrict_inner},
    {wire::Step::kResourceLimits, set_resource_limits},
};

}  // namespace

long close_all_except(const int32_t* keep, uint32_t count) {
  unsigned next = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const auto kept = static_cast<unsigned>(keep[i]);
    if (kept > next) {
      const long result = close_span(next, kept - 1, 0);
      if (result < 0) {
        return result;
      }
    }
    next = kept + 1;
  }
  return close_span(next, ~0U, 0);
}

void install_boundary(const Frame& frame, wire::StatusPage& page) {
  for (const auto& entry : kSteps) {
    report_started(page, entry.step);
    report_or_exit(page, entry.step, entry.run(frame, page));
  }
}

void set_up_unconfined(const Frame& frame, wire::StatusPage& page) {
  report_or_exit(page, wire::Step::kWorkingDirectory, change_directory(frame, page));
  report_or_exit(page, wire::Step::kSignals, restore_signals(frame, page));
}

int install_filter(const Frame& frame, wire::StatusPage& page) {
  if (frame.num_instructions == 0) {
    report(page, wire::Step::kSeccomp, not_requested());
    return -1;
  }
  report_started(page, wire::Step::kSeccomp);
  write_fd(frame.header->report_fd, "S", 1);
  if (AASM_HELPER_OMIT_SECCOMP != 0) {
    report(page, wire::Step::kSeccomp, done(frame.header->seccomp_flags));
    return -1;
  }
  struct {
    uint16_t length;
    const wire::FilterInstruction* filter;
  } const program = {static_cast<uint16_t>(frame.num_instructions), frame.filter};  // sock_fprog
  unsigned flags = frame.header->seccomp_flags;
  long result = raw_call(__NR_seccomp, SECCOMP_SET_MODE_FILTER, flags, address(&program));
  if (result == -kEinval && (flags & kWaitKillableRecv) != 0) {
    flags &= ~kWaitKillableRecv;
    result = raw_call(__NR_seccomp, SECCOMP_SET_MODE_FILTER, flags, address(&program));
  }
  if (result < 0) {
    report_or_exit(page, wire::Step::kSeccomp, failed(result, flags));
  }
  const bool has_listener = (flags & SECCOMP_FILTER_FLAG_NEW_LISTENER) != 0;
  page.listener_fd = has_listener ? static_cast<int>(result) : -1;
  report(page, wire::Step::kSeccomp, done(flags));
  return page.listener_fd;
}

}  // namespace aasm::helper
