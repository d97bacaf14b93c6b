#pragma once

#include <stdint.h>  // NOLINT(modernize-deprecated-headers): the helper has no C++ library.

// Messages on the socket between supervisor and warden, one struct a packet. The end of file on the
// warden's side means that the supervisor is gone: the warden kills the tree and exits.
namespace aasm::wire {

inline constexpr uint32_t kWardenMessageMagic = 0x574D4141;  // "AAMW"

enum class WardenMessageKind : uint32_t {
  kChildStarted = 1,  // to the supervisor, with a pidfd of the child as SCM_RIGHTS
  kChildEnded = 2,    // to the supervisor: the launch child, or the program it became, has ended
  kTreeGone = 3,      // to the supervisor, answer to kKillTree: no descendant is left
  kKillTree = 4,      // to the warden
  kChildStopped = 5,  // to the supervisor: the program has stopped (wait_status). When it goes on,
                      // the warden sends the supervisor SIGCONT: it may have stopped itself too
};

struct WardenMessage {
  uint32_t magic;
  uint32_t kind;        // WardenMessageKind
  int32_t pid;          // of the launch child
  int32_t wait_status;  // kChildEnded, kChildStopped: as of wait4(2)
  int64_t user_us;      // kChildEnded: resource use of the child and of what it waited for
  int64_t system_us;
  int64_t max_rss_kib;
  uint32_t num_killed;  // kTreeGone: descendants other than the child that died of the kill
  int32_t os_errno;     // kTreeGone: of the last read of a list of children that failed, else 0
};

static_assert(sizeof(WardenMessage) == 48);

}  // namespace aasm::wire
