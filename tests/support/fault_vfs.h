#pragma once

#include <cstdint>

// A SQLite VFS in front of the system's own that fails, or cuts the power, at the n-th operation
// that changes a file: write, truncate, sync or delete of a database or its WAL. For a child
// process of a test: there is one plan a process, and a cut ends it.
namespace aasm::test {

enum class Fault : std::uint8_t {
  kNone,         // only counts
  kKill,         // the process ends; what it wrote stays
  kCutLosesAll,  // power cut: of what was not synced nothing reached the disk,
  kCutKeepsOdd,  // every second operation,
  kCutTears,     // or all but the second half of the last write
  kFull,         // from there on every operation fails as ENOSPC does
  kIoError,      // from there on every operation fails as EIO and EROFS do
  kIoErrorOnce,  // that one only
};

inline constexpr int kExitCut = 77;

// Puts the VFS in front of all databases that this process opens from now on.
void plan_fault(Fault fault, int at);
// How many operations there were.
int num_operations();
// Whether the planned one came.
bool fault_hit();

}  // namespace aasm::test
