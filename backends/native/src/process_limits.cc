#include "process_limits.h"

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

namespace aasm::backend_native {
namespace {

using schema::Domain;
using schema::PolicyRule;
using schema::Requirement;

struct KnownLimit {
  std::string_view operation;
  std::string_view name;
  std::uint32_t resource;
};
constexpr std::array<KnownLimit, 3> kKnownLimits = {{
    {"cpu_seconds", "RLIMIT_CPU", RLIMIT_CPU},
    {"file_size_bytes", "RLIMIT_FSIZE", RLIMIT_FSIZE},
    {"open_files", "RLIMIT_NOFILE", RLIMIT_NOFILE},
}};

const KnownLimit* find_known(std::string_view operation) {
  const auto* const found =
      std::find_if(kKnownLimits.begin(), kKnownLimits.end(),
                   [operation](const KnownLimit& one) { return one.operation == operation; });
  return found == kKnownLimits.end() ? nullptr : found;
}

// The planner lets nothing but numbers from 1 to 2^53-1 through.
std::optional<std::uint64_t> number_of(const PolicyRule& rule) {
  const std::string& text = rule.selector.value.bytes();
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  const bool whole = read.ec == std::errc() && read.ptr == end && number > 0;
  return rule.selector.type == schema::SelectorType::kLimit && whole ? std::optional(number)
                                                                     : std::nullopt;
}

std::vector<const PolicyRule*> limit_rules(const std::vector<Requirement>& requirements) {
  std::vector<const PolicyRule*> rules;
  for (const Requirement& requirement : requirements) {
    for (const PolicyRule& rule : requirement.rules) {
      if (requirement.domain == Domain::kResource && number_of(rule)) {
        rules.push_back(&rule);
      }
    }
  }
  return rules;
}

std::optional<std::string> memory_obstacle(const PolicyRule& rule, std::uint64_t bytes,
                                           const FindGroups& find) {
  if (bytes < kLeastMemory) {
    return "rule " + rule.id + ": a program needs " + std::to_string(kLeastMemory) +
           " bytes to be started at all";
  }
  const schema::Result<MemoryPlace> groups = find();
  if (groups) {
    return std::nullopt;
  }
  return "rule " + rule.id +
         ": memory of a process tree is limited by a control group, and none can be made here (" +
         groups.error().message() +
         "); a limit of the address space would hold for each process by itself and break programs "
         "that reserve more than they use";
}

std::optional<std::string> rule_obstacle(const PolicyRule& rule, const FindGroups& groups) {
  const std::optional<std::uint64_t> number = number_of(rule);
  if (!number) {
    return "rule " + rule.id + ": " + rule.selector.value.display() + " is no limit";
  }
  if (rule.operation == "memory_bytes") {
    return memory_obstacle(rule, *number, groups);
  }
  if (rule.operation == "open_files" && *number < kLeastOpenFiles) {
    return "rule " + rule.id + ": a program needs up to " + std::to_string(kLeastOpenFiles) +
           " descriptors to be started at all";
  }
  if (rule.operation != "wall_clock_seconds" && find_known(rule.operation) == nullptr) {
    return "rule " + rule.id + ": operation " + rule.operation + " is not known to aasm-native";
  }
  return std::nullopt;
}

}  // namespace

InheritedLimit own_limit(std::uint32_t resource) {
  rlimit64 limit{RLIM64_INFINITY, RLIM64_INFINITY};
  // It fails for a resource that the kernel does not have, and all of ours are old.
  ::getrlimit64(static_cast<__rlimit_resource>(resource), &limit);
  return {limit.rlim_cur, limit.rlim_max};
}

std::vector<ProcessLimit> process_limits(const std::vector<Requirement>& requirements,
                                         const ReadLimit& inherited) {
  std::vector<ProcessLimit> limits;
  for (const PolicyRule* rule : limit_rules(requirements)) {
    const KnownLimit* known = find_known(rule->operation);
    if (known == nullptr || rule_obstacle(*rule, own_memory_place)) {
      continue;
    }
    const InheritedLimit host = inherited(known->resource);
    ProcessLimit limit;
    limit.rule = rule->id;
    limit.operation = rule->operation;
    limit.name = known->name;
    limit.asked = *number_of(*rule);
    // At the soft limit SIGXCPU tells what ended the program; SIGKILL, at the hard one, would not.
    const std::uint64_t later = known->resource == RLIMIT_CPU ? 1 : 0;
    limit.set = {known->resource, 0, std::min(limit.asked, host.soft),
                 std::min(limit.asked + later, host.hard)};
    limit.inherited_hard = host.hard;
    limit.host_is_stricter = host.hard < limit.asked;
    limits.push_back(std::move(limit));
  }
  return limits;
}

std::optional<WallClock> wall_clock(const std::vector<Requirement>& requirements) {
  for (const PolicyRule* rule : limit_rules(requirements)) {
    if (rule->operation == "wall_clock_seconds") {
      // More than a century is no number that a deadline can be computed from everywhere.
      constexpr std::uint64_t kMost = 4'000'000'000;
      return WallClock{rule->id, std::chrono::seconds(std::min(*number_of(*rule), kMost))};
    }
  }
  return std::nullopt;
}

std::optional<MemoryLimit> memory_limit(const std::vector<Requirement>& requirements) {
  for (const PolicyRule* rule : limit_rules(requirements)) {
    if (rule->operation == "memory_bytes" && *number_of(*rule) >= kLeastMemory) {
      return MemoryLimit{rule->id, *number_of(*rule)};
    }
  }
  return std::nullopt;
}

std::optional<std::string> limit_obstacle(const Requirement& requirement,
                                          const FindGroups& groups) {
  for (const PolicyRule& rule : requirement.rules) {
    if (std::optional<std::string> obstacle = rule_obstacle(rule, groups)) {
      return obstacle;
    }
  }
  return std::nullopt;
}

std::string limit_text(const ProcessLimit& limit) {
  const std::uint64_t held = std::min(limit.asked, limit.set.hard);
  std::string text = limit.name + " is " + std::to_string(held);
  if (limit.host_is_stricter) {
    text += ", the host's own; policy asks for " + std::to_string(limit.asked);
  }
  if (limit.set.soft != held) {
    text += "; the soft limit stays at the caller's " + std::to_string(limit.set.soft);
  }
  return text;
}

}  // namespace aasm::backend_native
