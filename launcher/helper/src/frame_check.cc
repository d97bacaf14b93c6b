#include "frame_check.h"

#include "frame.h"

namespace aasm::helper {

namespace {

constexpr uint32_t kSeccompNewListener = 1U << 3;
constexpr uint32_t kSeccompWaitKillable = 1U << 5;
constexpr uint32_t kNumRlimitResources = 16;  // RLIM_NLIMITS

bool is_launch(const wire::FrameHeader& header) {
  return header.role == static_cast<uint32_t>(wire::Role::kLaunch);
}

bool is_unconfined(const wire::FrameHeader& header) {
  return header.role == static_cast<uint32_t>(wire::Role::kUnconfined);
}

bool check_fixed(const wire::FrameHeader& header) {
  const bool known_role = is_launch(header) || is_unconfined(header) ||
                          header.role == static_cast<uint32_t>(wire::Role::kProbe);
  return header.magic == wire::kFrameMagic && header.version == wire::kFrameVersion &&
         header.header_size == sizeof(wire::FrameHeader) && known_role &&
         (header.flags & ~wire::kFlagsKnown) == 0 && header.fork_depth <= wire::kMaxForkDepth;
}

// A section is absent, or it is aligned, behind the header, inside the frame and made of whole
// elements, at most `max_count` of them.
bool check_section(const wire::FrameHeader& header, wire::Section section, uint32_t element_size,
                   uint32_t max_count) {
  if (section.size == 0) {
    return section.offset == 0;
  }
  return section.offset % 8 == 0 && section.offset >= sizeof(wire::FrameHeader) &&
         section.offset <= header.total_size &&
         section.size <= header.total_size - section.offset && section.size % element_size == 0 &&
         section.size / element_size <= max_count;
}

bool check_sections(const wire::FrameHeader& header) {
  constexpr uint32_t kAny = wire::kMaxFrameSize;
  return check_section(header, header.argv, 1, kAny) &&
         check_section(header, header.envp, 1, kAny) &&
         check_section(header, header.exec_path, 1, kAny) &&
         check_section(header, header.data, 1, kAny) &&
         check_section(header, header.descriptors, sizeof(int32_t), wire::kMaxDescriptors) &&
         check_section(header, header.rlimits, sizeof(wire::Rlimit), wire::kMaxRlimits) &&
         check_section(header, header.filter, sizeof(wire::FilterInstruction),
                       wire::kMaxFilterInstructions) &&
         check_section(header, header.script, sizeof(wire::ScriptEntry), wire::kMaxScriptEntries);
}

// The section holds exactly `count` strings that each end with NUL.
bool check_strings(const char* base, wire::Section section, uint32_t count) {
  if (section.size == 0) {
    return count == 0;
  }
  const char* text = base + section.offset;
  uint32_t ends = 0;
  for (uint32_t i = 0; i < section.size; ++i) {
    ends += text[i] == '\0' ? 1 : 0;
  }
  return text[section.size - 1] == '\0' && ends == count;
}

// Nothing that is asked for may be left out silently.
bool asks_for_nothing(const wire::FrameHeader& header) {
  return header.flags == 0 && header.rulesets[0].fd == -1 && header.filter.size == 0 &&
         header.script.size == 0 && header.data.size == 0 && header.rlimits.size == 0 &&
         header.descriptors.size == 0;
}

bool check_role(const wire::FrameHeader& header) {
  const bool by_fd = header.exec_fd >= 0;
  const bool by_path = header.exec_path.size != 0;
  if (is_unconfined(header)) {
    return by_fd != by_path && header.num_args >= 1 && header.fork_depth == 0 &&
           asks_for_nothing(header);
  }
  if (is_launch(header)) {
    return by_fd != by_path && header.num_args >= 1 && header.fork_depth == 0 &&
           header.filter.size != 0 && (header.seccomp_flags & kSeccompNewListener) != 0;
  }
  return !by_fd && !by_path && header.num_args == 0 && header.num_env == 0;
}

bool check_options(const wire::FrameHeader& header) {
  const bool cut = (header.flags & wire::kFlagCapabilities) != 0;
  const bool bounding = (header.flags & wire::kFlagBoundingSet) != 0;
  const bool identity = (header.flags & wire::kFlagExecIdentity) != 0;
  const auto& wanted = header.exec_identity;
  const bool no_identity = wanted.inode == 0 && wanted.size_bytes == 0 && wanted.ctime_sec == 0 &&
                           wanted.ctime_nsec == 0 && wanted.dev_major == 0 && wanted.dev_minor == 0;
  const bool broker = (header.flags & wire::kFlagBroker) != 0;
  if (broker ? header.broker_fd < 0 || header.rulesets[1].fd < 0 : header.broker_fd != 0) {
    return false;
  }
  if ((bounding && !cut) || (!cut && header.keep_capabilities != 0) || wanted.reserved != 0 ||
      (identity ? header.exec_path.size == 0 : !no_identity)) {
    return false;
  }
  return (header.seccomp_flags & ~(kSeccompNewListener | kSeccompWaitKillable)) == 0 &&
         (header.filter.size != 0 || header.seccomp_flags == 0);
}

// Every internal descriptor is a number of its own, also apart from the frame's and from those that
// stay open; those ascend.
bool check_descriptors(const char* base, const wire::FrameHeader& header, int frame_fd) {
  if (header.status_fd < 0 || header.report_fd < 0 || header.socket_fd < 0 || header.exec_fd < -1 ||
      header.cwd_fd < -1) {
    return false;
  }
  for (uint32_t i = 0; i < wire::kMaxRulesets; ++i) {
    const auto& slot = header.rulesets[i];
    const bool after_empty = i > 0 && header.rulesets[i - 1].fd == -1;
    if (slot.fd < -1 || (slot.fd == -1 && slot.flags != 0) || (slot.fd >= 0 && after_empty)) {
      return false;
    }
  }
  int32_t taken[kMaxInternal + 1] = {frame_fd};
  const uint32_t num_taken = 1 + internal_descriptors(header, taken + 1);
  for (uint32_t i = 0; i < num_taken; ++i) {
    for (uint32_t j = 0; j < i; ++j) {
      if (taken[i] == taken[j]) {
        return false;
      }
    }
  }
  // SAFETY: check_sections() found the section aligned and inside the frame.
  const auto* list = reinterpret_cast<const int32_t*>(base + header.descriptors.offset);
  for (uint32_t i = 0; i < header.descriptors.size / sizeof(int32_t); ++i) {
    if (list[i] < 0 || (i > 0 && list[i] <= list[i - 1])) {
      return false;
    }
    for (uint32_t j = 0; j < num_taken; ++j) {
      if (list[i] == taken[j]) {
        return false;
      }
    }
  }
  return true;
}

bool check_rlimits(const char* base, const wire::FrameHeader& header) {
  // SAFETY: as above.
  const auto* list = reinterpret_cast<const wire::Rlimit*>(base + header.rlimits.offset);
  for (uint32_t i = 0; i < header.rlimits.size / sizeof(wire::Rlimit); ++i) {
    if (list[i].resource >= kNumRlimitResources || list[i].reserved != 0 ||
        list[i].soft > list[i].hard) {
      return false;
    }
  }
  return true;
}

bool check_argument(const wire::FrameHeader& header, uint8_t kind, uint64_t value, uint32_t index) {
  switch (static_cast<wire::ArgKind>(kind)) {
    case wire::ArgKind::kValue:
      return true;
    case wire::ArgKind::kData:
      return value < header.data.size;
    case wire::ArgKind::kScratch:
      return value < wire::kScratchSize;
    case wire::ArgKind::kResult:
      return value < index;
    case wire::ArgKind::kOwnPid:
    case wire::ArgKind::kWardenPid:
      return value == 0;
  }
  return false;
}

bool check_script(const char* base, const wire::FrameHeader& header) {
  // SAFETY: as above.
  const auto* list = reinterpret_cast<const wire::ScriptEntry*>(base + header.script.offset);
  for (uint32_t i = 0; i < header.script.size / sizeof(wire::ScriptEntry); ++i) {
    const auto& entry = list[i];
    constexpr uint8_t kWhen = wire::kWhenControl | wire::kWhenInside;
    constexpr uint8_t kFlags =
        wire::kCloseAfterControl | wire::kCloseAfterInside | wire::kExitInChild;
    if (entry.when == 0 || (entry.when & ~kWhen) != 0 || (entry.flags & ~kFlags) != 0 ||
        entry.reserved != 0) {
      return false;
    }
    for (uint32_t k = 0; k < 6; ++k) {
      if (!check_argument(header, entry.arg_kinds[k], entry.args[k], i)) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace

bool check_frame(const char* base, const wire::FrameHeader& header, int frame_fd) {
  if (!check_fixed(header) || !check_sections(header) || !check_role(header) ||
      !check_options(header) || !check_descriptors(base, header, frame_fd)) {
    return false;
  }
  const bool data_ends =
      header.data.size == 0 || base[header.data.offset + header.data.size - 1] == '\0';
  return data_ends && check_strings(base, header.argv, header.num_args) &&
         check_strings(base, header.envp, header.num_env) &&
         check_strings(base, header.exec_path, header.exec_path.size == 0 ? 0 : 1) &&
         check_rlimits(base, header) && check_script(base, header);
}

}  // namespace aasm::helper
