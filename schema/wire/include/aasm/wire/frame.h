#pragma once

#include <stdint.h>  // NOLINT(modernize-deprecated-headers): the helper has no C++ library.

// The frame: a header of fixed layout followed by sections that the header places by offset and
// size. Offsets count from the frame's first byte and are multiples of eight; sections neither
// overlap the header nor leave the frame; an absent section has offset 0 and size 0. The memfd has
// exactly `total_size` bytes and carries the seals write, grow, shrink and seal. Reserved fields
// are zero. A frame that breaks any of this ends the helper with status 125 before it does
// anything.
namespace aasm::wire {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the frame is read in place");

inline constexpr uint32_t kFrameMagic = 0x464D4141;  // "AAMF"
inline constexpr uint32_t kFrameVersion = 1;
inline constexpr uint32_t kMaxFrameSize = 16U << 20;
inline constexpr uint32_t kMaxRulesets = 2;
inline constexpr uint32_t kMaxDescriptors = 1024;
inline constexpr uint32_t kMaxRlimits = 16;
inline constexpr uint32_t kMaxFilterInstructions = 4096;  // BPF_MAXINSNS
inline constexpr uint32_t kMaxForkDepth = 8;

enum class Role : uint32_t {
  kLaunch = 1,      // ends in the program
  kProbe = 2,       // ends after the script; no program
  kUnconfined = 3,  // ends in the program, which runs without a boundary: only the directory and
                    // the signals are set, and no list of installs, limits, descriptors or script
                    // may stand in the frame
};

// Bits of FrameHeader::flags.
inline constexpr uint32_t kFlagCapabilities = 1U << 0;  // cut to keep_capabilities
inline constexpr uint32_t kFlagBoundingSet = 1U << 1;   // and the bounding set too; needs SETPCAP
inline constexpr uint32_t kFlagExecIdentity = 1U << 2;  // check exec_identity before the filter
inline constexpr uint32_t kFlagBroker = 1U << 3;        // start the broker between the two rulesets
inline constexpr uint32_t kFlagsKnown =
    kFlagCapabilities | kFlagBoundingSet | kFlagExecIdentity | kFlagBroker;

struct Section {
  uint32_t offset;
  uint32_t size;  // bytes
};

struct Ruleset {
  int32_t fd;      // a Landlock ruleset, -1 when the slot is empty
  uint32_t flags;  // of landlock_restrict_self(2)
};

// What statx(2) must say about exec_path. Guards a `#!` script, which the kernel only runs by path.
struct ExecIdentity {
  uint64_t inode;
  uint64_t size_bytes;
  int64_t ctime_sec;
  uint32_t ctime_nsec;
  uint32_t dev_major;
  uint32_t dev_minor;
  uint32_t reserved;
};

struct Rlimit {
  uint32_t resource;  // RLIMIT_*
  uint32_t reserved;
  uint64_t soft;
  uint64_t hard;
};

// One BPF instruction: the layout of struct sock_filter.
struct FilterInstruction {
  uint16_t code;
  uint8_t jump_true;
  uint8_t jump_false;
  uint32_t k;
};

// Descriptor numbers are those of the helper process; -1 stands for "none" where allowed.
struct FrameHeader {
  uint32_t magic;
  uint32_t version;
  uint32_t total_size;   // of the whole frame, in bytes
  uint32_t header_size;  // sizeof(FrameHeader)
  uint32_t role;         // Role
  uint32_t flags;
  int32_t status_fd;    // the status page
  int32_t report_fd;    // write end of a pipe: one byte before seccomp(2), closed by the exec
  int32_t socket_fd;    // the warden's end of the socket
  int32_t exec_fd;      // launch: the program, executed by descriptor; -1 to execute exec_path
  int32_t cwd_fd;       // directory to work in; -1 to stay
  uint32_t fork_depth;  // probe: processes between the child and the one that runs the inside half
  Ruleset rulesets[kMaxRulesets];  // restricted in this order
  uint64_t keep_capabilities;      // bit n is capability n
  uint64_t signal_mask;            // blocked in the program; bit n-1 is signal n
  uint64_t ignored_signals;        // ignored in the program, all others have their default
  uint32_t seccomp_flags;          // of seccomp(2); WAIT_KILLABLE_RECV is dropped on EINVAL
  uint32_t num_args;               // strings in `argv`
  uint32_t num_env;                // strings in `envp`
  int32_t broker_fd;               // the broker's end of its socket (broker_message.h); else 0
  ExecIdentity exec_identity;
  Section argv;         // strings, each ended by NUL
  Section envp;         // strings, each ended by NUL
  Section exec_path;    // one string ended by NUL
  Section descriptors;  // int32_t[], ascending: what stays open across the exec
  Section rlimits;      // Rlimit[]
  Section filter;       // FilterInstruction[]; required for launch
  Section script;       // ScriptEntry[] (script.h)
  Section data;         // bytes that script arguments point to, ended by NUL
};

static_assert(sizeof(Section) == 8);
static_assert(sizeof(Ruleset) == 8);
static_assert(sizeof(ExecIdentity) == 40);
static_assert(sizeof(Rlimit) == 24);
static_assert(sizeof(FilterInstruction) == 8);
static_assert(sizeof(FrameHeader) == 208);
static_assert(__builtin_offsetof(FrameHeader, rulesets) == 48);
static_assert(__builtin_offsetof(FrameHeader, exec_identity) == 104);
static_assert(__builtin_offsetof(FrameHeader, argv) == 144);

}  // namespace aasm::wire
