#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "filter_spec.h"

// What the filter does with one number once it has found it, and the statements it is made of.
namespace aasm::backend_native::bpf {

using Program = std::vector<sock_filter>;

inline sock_filter load(std::uint32_t offset) {
  return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset);
}
inline sock_filter allow() {
  return BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
}
inline sock_filter notify() {
  return BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
}
inline sock_filter jump_always(std::size_t count) {
  return BPF_STMT(BPF_JMP | BPF_JA, static_cast<std::uint32_t>(count));
}
inline sock_filter jump_if(std::uint16_t test, std::uint32_t value, std::size_t if_true,
                           std::size_t if_false) {
  const sock_filter made = {static_cast<std::uint16_t>(BPF_JMP | test | BPF_K),
                            static_cast<std::uint8_t>(if_true), static_cast<std::uint8_t>(if_false),
                            value};
  return made;
}
inline sock_filter if_equal(std::uint32_t value, std::size_t if_true, std::size_t if_false) {
  return jump_if(BPF_JEQ, value, if_true, if_false);
}

// Ends in a verdict whatever the registers hold.
Program leaf(NumberAction action);

}  // namespace aasm::backend_native::bpf
