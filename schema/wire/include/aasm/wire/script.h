#pragma once

#include <stdint.h>  // NOLINT(modernize-deprecated-headers): the helper has no C++ library.

// The script: raw system calls that the helper makes without knowing what they are for. An entry
// can run in two halves: the control half before anything of the boundary is installed, and the
// inside half after all of it is. The supervisor writes the script and judges the results. Entries
// run in order within a half.
namespace aasm::wire {

inline constexpr uint32_t kMaxScriptEntries = 128;
inline constexpr uint32_t kScratchSize = 4096;

// Where the value of an argument comes from.
enum class ArgKind : uint8_t {
  kValue = 0,  // args[i] itself
  kData = 1,   // address of byte args[i] of the frame's data section
  kScratch =
      2,        // address of byte args[i] of a writable buffer of kScratchSize bytes, zero at first
  kResult = 3,  // what the earlier entry args[i] returned in this half
  kOwnPid = 4,  // pid of the process that runs the entry; args[i] is zero
  kWardenPid = 5,  // args[i] is zero
};

// Bits of ScriptEntry::when.
inline constexpr uint8_t kWhenControl = 1U << 0;
inline constexpr uint8_t kWhenInside = 1U << 1;

// Bits of ScriptEntry::flags: the call returned a descriptor that is to be closed at once.
inline constexpr uint8_t kCloseAfterControl = 1U << 0;
inline constexpr uint8_t kCloseAfterInside = 1U << 1;

// The call makes a process: the one that got 0 ends at once and stores nothing.
inline constexpr uint8_t kExitInChild = 1U << 2;

struct ScriptEntry {
  uint32_t number;  // of the system call
  uint8_t when;
  uint8_t flags;
  uint8_t arg_kinds[6];  // ArgKind
  uint32_t reserved;
  uint64_t args[6];
};

static_assert(sizeof(ScriptEntry) == 64);
static_assert(__builtin_offsetof(ScriptEntry, args) == 16);

}  // namespace aasm::wire
