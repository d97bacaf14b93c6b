#include "bpf.h"

#include <linux/seccomp.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>

#include "aasm/crypto/hash.h"
#include "aasm/wire/helper_wire.h"

#include "bpf_leaf.h"
#include "scheduling_judge.h"
#include "shared_memory.h"
#include "signal_target.h"
#include "syscall_names.h"

namespace aasm::backend_native {
namespace {

using bpf::if_equal;
using bpf::jump_always;
using bpf::jump_if;
using bpf::load;
using bpf::notify;
using bpf::Program;

// Numbers from `first` up to the next range are decided alike.
struct Range {
  std::int32_t first;
  NumberAction action;
};

std::vector<Range> number_ranges(const FilterSpec& spec) {
  std::set<std::int32_t> special = {SYS_ioctl,   SYS_clone,
                                    SYS_prctl,   SYS_prlimit64,
                                    SYS_seccomp, static_cast<std::int32_t>(wire::kRendezvousCall)};
#if defined(SYS_fork)
  special.insert({SYS_fork, SYS_vfork});
#endif
  special.insert(scheduling_calls().begin(), scheduling_calls().end());
  for (const auto& entry : spec.allowed) {
    special.insert(entry.first);
  }
  for (const auto& entry : spec.denied) {
    special.insert(entry.first);
  }
  for (const auto& entry : spec.closed) {
    special.insert(entry.first);
  }
  for (const auto* calls : {&network_calls(), &signal_calls(), &memory_calls()}) {
    special.insert(calls->begin(), calls->end());
  }
  if (spec.files.judges()) {
    special.insert(file_calls().begin(), file_calls().end());
    special.insert(execution_calls().begin(), execution_calls().end());
  }
  if (spec.network.answers_names()) {
    special.insert(receive_calls().begin(), receive_calls().end());
  }
  constexpr std::int32_t kBeyondNames = 1024;
  for (std::int32_t number = 0; spec.files.observes() && number < kBeyondNames; ++number) {
    if (!known_syscall_number(number)) {
      special.insert(number);
    }
  }
  std::set<std::int32_t> starts = {0};
  for (const std::int32_t number : special) {
    starts.insert(number);
    starts.insert(number + 1);
  }
  std::vector<Range> ranges;
  for (const std::int32_t start : starts) {
    const NumberAction action = number_action(spec, start);
    if (ranges.empty() || ranges.back().action != action) {
      ranges.push_back({start, action});
    }
  }
  return ranges;
}

void append(Program* program, const Program& more) {
  program->insert(program->end(), more.begin(), more.end());
}

// Branches on "number >= first of the right half". A conditional jump reaches 255 instructions; a
// larger left half is jumped over unconditionally.
Program tree(std::span<const Range> ranges) {
  if (ranges.size() == 1) {
    return bpf::leaf(ranges.front().action);
  }
  const std::size_t middle = ranges.size() / 2;
  const Program left = tree(ranges.first(middle));
  const auto split = static_cast<std::uint32_t>(ranges[middle].first);
  Program program;
  if (left.size() <= UINT8_MAX) {
    program.push_back(jump_if(BPF_JGE, split, left.size(), 0));
  } else {
    program.push_back(jump_if(BPF_JGE, split, 0, 1));
    program.push_back(jump_always(left.size()));
  }
  append(&program, left);
  append(&program, tree(ranges.subspan(middle)));
  return program;
}

std::vector<std::string> sorted_names(const std::vector<std::int32_t>& numbers) {
  std::vector<std::string> names;
  names.reserve(numbers.size());
  for (const std::int32_t number : numbers) {
    names.push_back(syscall_name(kNativeArch, number));
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

Program build_filter(const FilterSpec& spec) {
  Program program = {
      load(static_cast<std::uint32_t>(offsetof(seccomp_data, arch))),
      if_equal(kNativeAuditArch, 1, 0),
      notify(),
      load(static_cast<std::uint32_t>(offsetof(seccomp_data, nr))),
      // Negative numbers too. No other architecture has numbers this high.
      jump_if(BPF_JGE, kX32Bit, 0, 1),
      notify(),
  };
  append(&program, tree(number_ranges(spec)));
  return program;
}

schema::Bytes filter_bytes(std::span<const sock_filter> program) {
  schema::Bytes bytes;
  bytes.reserve(program.size() * sizeof(sock_filter));
  for (const sock_filter& instruction : program) {
    bytes.push_back(static_cast<std::uint8_t>(instruction.code & 0xFFU));
    bytes.push_back(static_cast<std::uint8_t>(instruction.code >> 8U));
    bytes.push_back(instruction.jt);
    bytes.push_back(instruction.jf);
    for (unsigned shift = 0; shift < 32; shift += 8) {
      bytes.push_back(static_cast<std::uint8_t>((instruction.k >> shift) & 0xFFU));
    }
  }
  return bytes;
}

schema::SeccompDetail seccomp_detail(const FilterSpec& spec, std::span<const sock_filter> program) {
  schema::SeccompDetail detail;
  detail.program = crypto::sha256(filter_bytes(program));
  detail.instructions = static_cast<std::int64_t>(program.size());
  detail.default_action = spec.default_notify ? "notify" : "allow";
  std::vector<std::int32_t> numbers;
  if (spec.default_notify) {
    for (const auto& entry : spec.allowed) {
      // Also those that are judged one by one.
      if (spec.policy_allows(entry.first) && !spec.closed.contains(entry.first)) {
        numbers.push_back(entry.first);
      }
    }
    detail.allowed = sorted_names(numbers);
    return detail;
  }
  for (const auto& entry : spec.closed) {
    numbers.push_back(entry.first);
  }
  for (const auto& entry : spec.denied) {
    if (!spec.closed.contains(entry.first)) {
      numbers.push_back(entry.first);
    }
  }
  detail.denied = sorted_names(numbers);
  return detail;
}

}  // namespace aasm::backend_native
