#pragma once

#include <linux/seccomp.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

// Whom a call signals, or opens to signal it later (docs/decisions/0022).
namespace aasm::backend_native {

// The calls that are notified where policy keeps signals inside.
const std::vector<std::int32_t>& signal_calls();

struct SignalTarget {
  enum class Kind : std::uint8_t {
    kNobody,      // a number that no process has: the kernel says so
    kOwn,         // the caller's own group, or everybody it may signal, which Landlock narrows
    kProcess,     // `number`: of a process or of one of its threads
    kGroup,       // `number` of a process group
    kDescriptor,  // `number` of one of the caller's
  };
  Kind kind = Kind::kNobody;
  std::int32_t number = 0;
};

// From argument registers alone.
SignalTarget signal_target(const seccomp_data& call);

// "1234", or "-1234" for a group; "descriptor 5" where it is not known what that is of.
std::string target_text(const SignalTarget& target);

// kDescriptor becomes the process that the descriptor stands for at this moment; what it is else
// stays as it is. `tid` is the blocked caller.
SignalTarget follow_descriptor(SignalTarget target, pid_t tid);

// Says which processes are of the tree: descendants of `root`, the warden, that are not `broker`.
class SignalScope {
 public:
  SignalScope(pid_t root, pid_t broker) : root_(root), broker_(broker) {}

  // Whether a signal to it would certainly leave the tree: a process elsewhere, or a group that has
  // members, none of them inside. Who does not exist, or ends meanwhile, is not outside. A group
  // takes a look at all of /proc unless its first process is inside.
  bool is_outside(const SignalTarget& target) const;

 private:
  bool is_stranger(pid_t pid) const;
  bool is_foreign_group(pid_t group) const;

  pid_t root_;
  pid_t broker_;
};

}  // namespace aasm::backend_native
