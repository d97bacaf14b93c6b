#include "helper_frame.h"

#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>

namespace aasm::backend_native {

namespace {

using schema::Error;
using schema::ErrorCode;
using schema::Result;

Error invalid(const char* what) {
  return Error(ErrorCode::kInvalidArgument, std::string("launch helper frame: ") + what);
}

// Collects the sections behind the header, each aligned to eight.
class FrameWriter {
 public:
  FrameWriter() : bytes_(sizeof(wire::FrameHeader)) {}

  // Appends `size` bytes and says where they stand. Nothing is placed for no bytes.
  wire::Section add(const void* data, std::size_t size) {
    if (size == 0) {
      return {0, 0};
    }
    bytes_.resize((bytes_.size() + 7) / 8 * 8);
    const std::size_t offset = bytes_.size();
    bytes_.resize(offset + size);
    std::memcpy(bytes_.data() + offset, data, size);
    return {static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(size)};
  }
  template <class T>
  wire::Section add_list(const std::vector<T>& list) {
    return add(list.data(), list.size() * sizeof(T));
  }
  wire::Section add_strings(const std::vector<std::string>& strings) {
    std::string text;
    for (const auto& string : strings) {
      text.append(string.c_str(), string.size() + 1);
    }
    return add(text.data(), text.size());
  }

  std::size_t size() const { return bytes_.size(); }

  schema::Bytes finish(wire::FrameHeader& header) {
    header.total_size = static_cast<std::uint32_t>(bytes_.size());
    std::memcpy(bytes_.data(), &header, sizeof(header));
    return std::move(bytes_);
  }

 private:
  schema::Bytes bytes_;
};

bool any_has_nul(const std::vector<std::string>& strings) {
  return std::any_of(strings.begin(), strings.end(),
                     [](const std::string& text) { return text.find('\0') != std::string::npos; });
}

std::size_t bytes_of(const std::vector<std::string>& strings) {
  std::size_t size = 0;
  for (const auto& text : strings) {
    size += text.size() + 1;
  }
  return size;
}

Result<void> check_strings(const FrameSpec& spec) {
  if (any_has_nul(spec.argv) || any_has_nul(spec.environment) ||
      spec.exec_path.find('\0') != std::string::npos) {
    return invalid("a string holds a NUL");
  }
  // The other sections are bounded by their counts and stay far below the rest.
  if (bytes_of(spec.argv) + bytes_of(spec.environment) + spec.script_data.size() +
          spec.exec_path.size() >
      wire::kMaxFrameSize / 2) {
    return Error(ErrorCode::kResourceExhausted, "arguments and environment are too long", E2BIG);
  }
  return {};
}

Result<void> check_counts(const FrameSpec& spec) {
  if (spec.descriptors.size() > wire::kMaxDescriptors ||
      spec.rulesets.size() > wire::kMaxRulesets || spec.rlimits.size() > wire::kMaxRlimits ||
      spec.filter.size() > wire::kMaxFilterInstructions ||
      spec.script.size() > wire::kMaxScriptEntries || spec.fork_depth > wire::kMaxForkDepth) {
    return Error(ErrorCode::kResourceExhausted, "launch helper frame: a list is too long");
  }
  if (!spec.script_data.empty() && spec.script_data.back() != '\0') {
    return invalid("script data without its end");
  }
  if (spec.broker && spec.rulesets.size() != wire::kMaxRulesets) {
    return invalid("a broker needs a ruleset of its own and one for the program");
  }
  return {};
}

bool asks_for_a_boundary(const FrameSpec& spec) {
  return spec.exec_identity || spec.broker || spec.capabilities || !spec.descriptors.empty() ||
         !spec.rulesets.empty() || !spec.rlimits.empty() || !spec.filter.empty() ||
         !spec.script.empty() || !spec.script_data.empty() || spec.fork_depth != 0;
}

Result<void> check_role(const FrameSpec& spec) {
  const bool by_fd = spec.exec_fd >= 0;
  const bool by_path = !spec.exec_path.empty();
  switch (spec.role) {
    case wire::Role::kUnconfined:
      if (by_fd == by_path || spec.argv.empty() || asks_for_a_boundary(spec)) {
        return invalid("an unconfined launch needs one program and an argument, and nothing else");
      }
      return {};
    case wire::Role::kLaunch:
      if (by_fd == by_path || spec.argv.empty() || spec.filter.empty() || spec.fork_depth != 0) {
        return invalid("a launch needs one program, an argument and a filter");
      }
      return {};
    case wire::Role::kProbe:
      if (by_fd || by_path || !spec.argv.empty() || !spec.environment.empty()) {
        return invalid("a probe has no program");
      }
      return {};
  }
  return invalid("unknown role");
}

wire::FrameHeader fixed_part(const FrameSpec& spec, const FrameDescriptors& own) {
  wire::FrameHeader header = {};
  header.magic = wire::kFrameMagic;
  header.version = wire::kFrameVersion;
  header.header_size = sizeof(wire::FrameHeader);
  header.role = static_cast<std::uint32_t>(spec.role);
  header.status_fd = own.status;
  header.report_fd = own.report;
  header.socket_fd = own.socket;
  header.exec_fd = spec.exec_fd;
  header.cwd_fd = spec.cwd_fd;
  header.fork_depth = spec.fork_depth;
  for (std::size_t i = 0; i < wire::kMaxRulesets; ++i) {
    header.rulesets[i] = i < spec.rulesets.size() ? spec.rulesets[i] : wire::Ruleset{-1, 0};
  }
  if (spec.capabilities) {
    header.flags |= wire::kFlagCapabilities;
    header.flags |= spec.capabilities->bounding_set ? wire::kFlagBoundingSet : 0;
    header.keep_capabilities = spec.capabilities->keep;
  }
  if (spec.broker) {
    header.flags |= wire::kFlagBroker;
    header.broker_fd = own.broker;
  }
  if (spec.exec_identity) {
    header.flags |= wire::kFlagExecIdentity;
    header.exec_identity = *spec.exec_identity;
  }
  header.signal_mask = spec.signal_mask;
  header.ignored_signals = spec.ignored_signals;
  header.seccomp_flags = spec.seccomp_flags;
  header.num_args = static_cast<std::uint32_t>(spec.argv.size());
  header.num_env = static_cast<std::uint32_t>(spec.environment.size());
  return header;
}

}  // namespace

Result<schema::Bytes> build_frame(const FrameSpec& spec, const FrameDescriptors& own) {
  AASM_TRY(check_strings(spec));
  AASM_TRY(check_counts(spec));
  AASM_TRY(check_role(spec));
  static_assert(sizeof(sock_filter) == sizeof(wire::FilterInstruction));
  std::vector<int> descriptors = spec.descriptors;
  std::sort(descriptors.begin(), descriptors.end());
  wire::FrameHeader header = fixed_part(spec, own);
  FrameWriter writer;
  header.argv = writer.add_strings(spec.argv);
  header.envp = writer.add_strings(spec.environment);
  if (!spec.exec_path.empty()) {
    header.exec_path = writer.add_strings({spec.exec_path});
  }
  header.descriptors = writer.add_list(descriptors);
  header.rlimits = writer.add_list(spec.rlimits);
  header.filter = writer.add_list(spec.filter);
  header.script = writer.add_list(spec.script);
  header.data = writer.add(spec.script_data.data(), spec.script_data.size());
  return writer.finish(header);
}

wire::ExecIdentity exec_identity(const process::FileIdentity& file) {
  constexpr std::int64_t kNsPerSecond = 1'000'000'000;
  wire::ExecIdentity identity = {};
  identity.inode = file.inode;
  identity.size_bytes = static_cast<std::uint64_t>(file.size);
  // Nanoseconds count up from the second also before 1970.
  const std::int64_t nsec = (file.ctime_ns % kNsPerSecond + kNsPerSecond) % kNsPerSecond;
  identity.ctime_sec = (file.ctime_ns - nsec) / kNsPerSecond;
  identity.ctime_nsec = static_cast<std::uint32_t>(nsec);
  identity.dev_major = ::gnu_dev_major(file.device);
  identity.dev_minor = ::gnu_dev_minor(file.device);
  return identity;
}

InheritedSignals inherited_signals() {
  InheritedSignals signals;
  ::syscall(SYS_rt_sigprocmask, SIG_BLOCK, nullptr, &signals.mask, sizeof(signals.mask));
  constexpr unsigned kNumSignals = 64;
  for (unsigned signal = 1; signal <= kNumSignals; ++signal) {
    std::array<std::uint64_t, 4> action{};  // handler (1: ignore), flags, restorer, mask
    if (::syscall(SYS_rt_sigaction, signal, nullptr, action.data(), sizeof(signals.mask)) == 0 &&
        action[0] == 1) {
      signals.ignored |= std::uint64_t{1} << (signal - 1);
    }
  }
  return signals;
}

}  // namespace aasm::backend_native
