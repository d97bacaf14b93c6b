#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

// What the kernel's audit says of Landlock domains, read from its text (linux/audit.h,
// security/landlock/audit.c of Linux 6.15). Pure. Paths in it are the workload's to choose.
namespace aasm::backend_native::audit {

inline constexpr std::uint16_t kLandlockAccess = 1423;
inline constexpr std::uint16_t kLandlockDomain = 1424;

// Lists of rights and what is said beside files are cut here.
inline constexpr std::size_t kMaxTextBytes = 256;

// Refused in the domain. `path`, `device` and `inode` are of files alone; what is said of anything
// else stands in `detail` as the kernel wrote it.
struct Denial {
  std::uint64_t domain = 0;
  std::string blockers;
  std::optional<std::string> path;
  std::string device;
  std::optional<std::uint64_t> inode;
  std::string detail;
};

// Said once a domain, with its first denial. `pid`: of the process that made the domain, as the
// initial PID namespace numbers it.
struct DomainMade {
  std::uint64_t domain = 0;
  std::int64_t pid = 0;
};

// Said when its last process has ended. `denials` counts also those that were never told.
struct DomainEnded {
  std::uint64_t domain = 0;
  std::int64_t denials = 0;
};

struct Record {
  std::int64_t time_ms = 0;  // by CLOCK_REALTIME_COARSE
  std::uint64_t serial = 0;  // the same for what is told of one action
  std::variant<Denial, DomainMade, DomainEnded> said;
};

// nullopt for other types and for what is not told as expected.
std::optional<Record> read_record(std::uint16_t type, std::string_view text);

}  // namespace aasm::backend_native::audit
