#pragma once

#include "aasm/wire/broker_message.h"
#include "aasm/wire/frame.h"
#include "aasm/wire/script.h"
#include "aasm/wire/status_page.h"
#include "aasm/wire/warden_message.h"

// What supervisor and launch helper exchange, as fixed layouts in little-endian order:
//
//   frame           sealed memfd, supervisor to helper: everything the helper is to do
//   status page     shared memfd: what each step of the launch child came to
//   warden message  SOCK_SEQPACKET socket: the child's pid and end, and the order to kill the tree
//   broker message  SOCK_SEQPACKET socket: system calls that the broker makes for the program
//
// The helper is started as `aasm-launch-helper FRAME_FD` with all signals blocked and with exactly
// the descriptors that the frame names, the ones it passes without naming them (canary descriptors)
// and the frame itself. It becomes the warden and clones the launch child, which installs the
// boundary and becomes the program (role launch) or runs a script and exits (role probe). In the
// role unconfined it only becomes the program, with every descriptor that the helper was given.
namespace aasm::wire {

// The number of the rendezvous call. No kernel knows it, so a filter whose default is to notify
// reports it, and without a listener it is answered ENOSYS. Argument 0 is a RendezvousPhase.
inline constexpr uint32_t kRendezvousCall = 0xAA51;

// What the launch child asks. The answer 0 means: go on. Any other answer to kProgram ends the
// child.
enum class RendezvousPhase : uint64_t {
  kCanaries = 1,  // the listener can be taken; the inside half of the script comes next
  kProgram = 2,   // the script has run; the answer 0 starts the program, or ends a probe
};

// Exit status of warden and launch child when no program ran.
inline constexpr int kHelperExitStatus = 125;

}  // namespace aasm::wire
