#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "aasm/schema/record_policy.h"
#include "aasm/schema/result.h"
#include "aasm/wire/frame.h"

#include "memory_place.h"

// The domain `resource`: limits that the kernel keeps (setrlimit(2), control groups) and the wall
// clock, which the session keeps. Pure, but for own_limit() and own_memory_place().
namespace aasm::backend_native {

// One limit of a process, as policy states it and as the helper sets it.
struct ProcessLimit {
  std::string rule;       // "resources.open_files"
  std::string operation;  // "open_files"
  std::string name;       // "RLIMIT_NOFILE"
  std::uint64_t asked = 0;
  wire::Rlimit set{};  // what policy asks for, or what the host has already where that is less
  std::uint64_t inherited_hard = 0;
  bool host_is_stricter = false;  // the host's hard limit is below what policy asks for
};

// The soft and the hard limit that this process has of a resource, as a launch child inherits them.
struct InheritedLimit {
  std::uint64_t soft = 0;
  std::uint64_t hard = 0;
};
using ReadLimit = std::function<InheritedLimit(std::uint32_t resource)>;
InheritedLimit own_limit(std::uint32_t resource);

// Of every requirement on Domain::kResource the limits that setrlimit(2) knows, in the order of the
// rules. A limit is never made looser than the inherited one, soft and hard each.
std::vector<ProcessLimit> process_limits(const std::vector<schema::Requirement>& requirements,
                                         const ReadLimit& inherited);

// The rule that states a wall clock, and its seconds.
struct WallClock {
  std::string rule;
  std::chrono::seconds limit{0};
};
std::optional<WallClock> wall_clock(const std::vector<schema::Requirement>& requirements);

// Of memory_bytes, which a control group limits (memory_group.h).
struct MemoryLimit {
  std::string rule;
  std::uint64_t bytes = 0;
};
// nullopt where it is not stated, or too little for any program.
std::optional<MemoryLimit> memory_limit(const std::vector<schema::Requirement>& requirements);

// Where control groups can be made.
using FindGroups = std::function<schema::Result<MemoryPlace>()>;

// Why a requirement on Domain::kResource cannot be carried out as a whole; nullopt when it can.
std::optional<std::string> limit_obstacle(const schema::Requirement& requirement,
                                          const FindGroups& groups = own_memory_place);

// "RLIMIT_NOFILE is 64", and more where policy and host differ.
std::string limit_text(const ProcessLimit& limit);

// The helper itself, the program's loader and the descriptors that are passed on need some.
inline constexpr std::uint64_t kLeastOpenFiles = 16;

// What a small program with its loader and its C library needs.
inline constexpr std::uint64_t kLeastMemory = std::uint64_t{4} << 20U;

}  // namespace aasm::backend_native
