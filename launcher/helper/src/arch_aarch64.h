#pragma once

// The machine's part: the system call instruction, the argument order of clone(2), the entry point.
namespace aasm::helper {

inline long raw_call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0,
                     long f = 0) {
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  register long x4 __asm__("x4") = e;
  register long x5 __asm__("x5") = f;
  __asm__ volatile("svc #0"
                   : "+r"(x0)
                   : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                   : "memory");
  return x0;
}

// clone(2) on this machine: flags, stack, parent_tid, tls, child_tid.
inline long raw_clone(long number, long flags, long parent_tid, long child_tid) {
  return raw_call(number, flags, 0, parent_tid, 0, child_tid);
}

// clone(2) of a thread on its own stack, which runs entry(argument) and does not come back from it.
// `tid` is stored at the start and zeroed at the end.
inline long raw_clone_thread(long number, long flags, void* stack_top, int* tid,
                             void (*entry)(void*), void* argument) {
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = flags;
  register long x1 __asm__("x1") = reinterpret_cast<long>(stack_top);
  register long x2 __asm__("x2") = reinterpret_cast<long>(tid);
  register long x3 __asm__("x3") = 0;
  register long x4 __asm__("x4") = reinterpret_cast<long>(tid);
  register long x19 __asm__("x19") = reinterpret_cast<long>(entry);
  register long x20 __asm__("x20") = reinterpret_cast<long>(argument);
  __asm__ volatile(
      "svc #0\n"
      "cbnz x0, 1f\n"
      "mov x29, xzr\n"
      "mov x0, x20\n"
      "blr x19\n"
      "brk #0\n"
      "1:\n"
      : "+r"(x0)
      : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x19), "r"(x20)
      : "x30", "memory");
  return x0;
}

// The kernel's own page has the way back from a handler on this machine.
inline constexpr unsigned long kHandlerFlags = 0;

}  // namespace aasm::helper

// A handler that does nothing, and the way back from it (rt_sigreturn).
extern "C" void aasm_signal_handler();
extern "C" void aasm_signal_return();
// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): both must stand at file scope, once.
#define AASM_HELPER_HANDLER                    \
  __asm__(                                     \
      ".text\n"                                \
      ".globl aasm_signal_handler\n"           \
      ".type aasm_signal_handler, %function\n" \
      "aasm_signal_handler:\n"                 \
      "  ret\n"                                \
      ".globl aasm_signal_return\n"            \
      ".type aasm_signal_return, %function\n"  \
      "aasm_signal_return:\n"                  \
      "  mov x8, #139\n"                       \
      "  svc #0\n")

// The kernel enters with argc, argv and envp on the stack; helper_main gets their address.
// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): the entry point must stand at file scope, once.
#define AASM_HELPER_ENTRY         \
  __asm__(                        \
      ".text\n"                   \
      ".globl _start\n"           \
      ".type _start, %function\n" \
      "_start:\n"                 \
      "  mov x29, xzr\n"          \
      "  mov x30, xzr\n"          \
      "  mov x0, sp\n"            \
      "  bl helper_main\n"        \
      "  brk #0\n")
