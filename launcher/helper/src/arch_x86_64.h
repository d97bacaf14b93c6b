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

// clone(2) of a thread on its own stack, which runs entry(argument) and does not come back from it.
// `tid` is stored at the start and zeroed at the end.
inline long raw_clone_thread(long number, long flags, void* stack_top, int* tid,
                             void (*entry)(void*), void* argument) {
  long result;
  register long r10 __asm__("r10") = reinterpret_cast<long>(tid);
  register long r8 __asm__("r8") = 0;
  register long r12 __asm__("r12") = reinterpret_cast<long>(entry);
  register long r13 __asm__("r13") = reinterpret_cast<long>(argument);
  __asm__ volatile(
      "syscall\n"
      "test %%rax, %%rax\n"
      "jnz 1f\n"
      "xor %%ebp, %%ebp\n"
      "mov %%r13, %%rdi\n"
      "call *%%r12\n"
      "hlt\n"
      "1:\n"
      : "=a"(result)
      : "a"(number), "D"(flags), "S"(stack_top), "d"(tid), "r"(r10), "r"(r8), "r"(r12), "r"(r13)
      : "rcx", "r11", "memory");
  return result;
}

// struct kernel_sigaction wants a way back from a handler on this machine (SA_RESTORER).
inline constexpr unsigned long kHandlerFlags = 0x04000000;

}  // namespace aasm::helper

// A handler that does nothing, and the way back from it (rt_sigreturn).
extern "C" void aasm_signal_handler();
extern "C" void aasm_signal_return();
// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): both must stand at file scope, once.
#define AASM_HELPER_HANDLER                    \
  __asm__(                                     \
      ".text\n"                                \
      ".globl aasm_signal_handler\n"           \
      ".type aasm_signal_handler, @function\n" \
      "aasm_signal_handler:\n"                 \
      "  ret\n"                                \
      ".globl aasm_signal_return\n"            \
      ".type aasm_signal_return, @function\n"  \
      "aasm_signal_return:\n"                  \
      "  mov $15, %eax\n"                      \
      "  syscall\n")

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
