#pragma once

// The machine's part: the system call instruction, the argument order of clone(2), the entry point.
namespace aasm::helper {

inline long raw_call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0,
                     long f = 0) {
  long result;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}

// clone(2) on this machine: flags, stack, parent_tid, child_tid, tls.
inline long raw_clone(long number, long flags, long parent_tid, long child_tid) {
  return raw_call(number, flags, 0, parent_tid, child_tid, 0);
}

}  // namespace aasm::helper

// The kernel enters with argc, argv and envp on the stack; helper_main gets their address.
// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): the entry point must stand at file scope, once.
#define AASM_HELPER_ENTRY         \
  __asm__(                        \
      ".text\n"                   \
      ".globl _start\n"           \
      ".type _start, @function\n" \
      "_start:\n"                 \
      "  xor %ebp, %ebp\n"        \
      "  mov %rsp, %rdi\n"        \
      "  and $-16, %rsp\n"        \
      "  call helper_main\n"      \
      "  hlt\n")
