#include "errno_filter.h"

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>

namespace aasm::process {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kAudit = AUDIT_ARCH_X86_64;
#else
constexpr std::uint32_t kAudit = AUDIT_ARCH_AARCH64;
#endif

constexpr std::uint32_t kThread = 0x00010000;    // CLONE_THREAD
constexpr std::uint32_t kExecutable = 4;         // PROT_EXEC
constexpr std::uint32_t kPushInput = 0x5412;     // TIOCSTI
constexpr std::uint32_t kConsoleInput = 0x541C;  // TIOCLINUX
constexpr std::uint32_t kFirstUnreviewed = 468;  // behind open_tree_attr of Linux 6.15

// Answered EPERM. By number where linux-libc-dev 6.1 does not know the name; those numbers are the
// same on every architecture.
constexpr std::uint32_t kRefused[] = {
    // programs and processes
    SYS_execve,
    SYS_execveat,
    // other processes
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_process_madvise,
    SYS_process_mrelease,
    SYS_kcmp,
    SYS_pidfd_open,
    SYS_pidfd_getfd,
    SYS_pidfd_send_signal,
    SYS_kill,
    SYS_tkill,
    SYS_rt_sigqueueinfo,
    SYS_rt_tgsigqueueinfo,
    SYS_setpriority,
    SYS_ioprio_set,
    SYS_sched_setaffinity,
    SYS_sched_setattr,
    SYS_sched_setparam,
    SYS_sched_setscheduler,
    SYS_migrate_pages,
    SYS_move_pages,
    SYS_perf_event_open,
    // sockets and what else leads out
    SYS_socket,
    SYS_socketpair,
    SYS_connect,
    SYS_bind,
    SYS_listen,
    SYS_accept,
    SYS_accept4,
    SYS_sendto,
    SYS_sendmsg,
    SYS_sendmmsg,
    SYS_recvfrom,
    SYS_recvmsg,
    SYS_recvmmsg,
    SYS_io_uring_setup,
    SYS_io_uring_enter,
    SYS_io_uring_register,
    SYS_shmget,
    SYS_shmat,
    SYS_shmctl,
    SYS_msgget,
    SYS_msgsnd,
    SYS_msgrcv,
    SYS_msgctl,
    SYS_semget,
    SYS_semop,
    SYS_semtimedop,
    SYS_semctl,
    SYS_mq_open,
    SYS_mq_unlink,
    SYS_memfd_create,
    SYS_memfd_secret,
    SYS_userfaultfd,
    SYS_remap_file_pages,
    // attributes, watches and handles of files: no right of Landlock covers them
    SYS_fchmod,
    SYS_fchmodat,
    452 /* fchmodat2 */,
    SYS_fchown,
    SYS_fchownat,
    SYS_utimensat,
    SYS_setxattr,
    SYS_lsetxattr,
    SYS_fsetxattr,
    463 /* setxattrat */,
    SYS_removexattr,
    SYS_lremovexattr,
    SYS_fremovexattr,
    466 /* removexattrat */,
    SYS_inotify_init1,
    SYS_inotify_add_watch,
    SYS_fanotify_init,
    SYS_fanotify_mark,
    SYS_name_to_handle_at,
    SYS_open_by_handle_at,
    SYS_mknodat,
    SYS_chroot,
    SYS_acct,
    SYS_quotactl,
    SYS_quotactl_fd,
    // mounts and namespaces
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_unshare,
    SYS_setns,
    SYS_open_tree,
    SYS_move_mount,
    SYS_fsopen,
    SYS_fsconfig,
    SYS_fsmount,
    SYS_fspick,
    SYS_mount_setattr,
    467 /* open_tree_attr */,
    SYS_swapon,
    SYS_swapoff,
    // identities and keys
    SYS_setuid,
    SYS_setgid,
    SYS_setreuid,
    SYS_setregid,
    SYS_setresuid,
    SYS_setresgid,
    SYS_setfsuid,
    SYS_setfsgid,
    SYS_setgroups,
    SYS_capset,
    SYS_setsid,
    SYS_setpgid,
    SYS_add_key,
    SYS_request_key,
    SYS_keyctl,
    SYS_personality,
    // the machine
    SYS_bpf,
    SYS_reboot,
    SYS_kexec_load,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_clock_adjtime,
    SYS_adjtimex,
    SYS_sethostname,
    SYS_setdomainname,
    SYS_syslog,
    SYS_vhangup,
#if defined(__x86_64__)
    SYS_fork,
    SYS_vfork,
    SYS_chmod,
    SYS_chown,
    SYS_lchown,
    SYS_utime,
    SYS_utimes,
    SYS_futimesat,
    SYS_inotify_init,
    SYS_mknod,
    SYS_uselib,
    SYS_iopl,
    SYS_ioperm,
    SYS_modify_ldt,
    SYS_kexec_file_load,
#endif
};

constexpr std::uint32_t answer(int os_errno) {
  return SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(os_errno);
}

// Appends instructions; jumps count instructions that follow.
class Program {
 public:
  void load(std::uint32_t offset) { add({BPF_LD | BPF_W | BPF_ABS, 0, 0, offset}); }
  // Little endian: the low half of a register comes first.
  void load_argument(std::uint32_t number) {
    load(static_cast<std::uint32_t>(offsetof(seccomp_data, args)) + number * 8);
  }
  void jump(std::uint16_t test, std::uint32_t value, std::uint8_t if_true, std::uint8_t if_false) {
    add({static_cast<std::uint16_t>(BPF_JMP | test | BPF_K), if_true, if_false, value});
  }
  void end(std::uint32_t result) { add({BPF_RET | BPF_K, 0, 0, result}); }
  void refuse_if(std::uint16_t test, std::uint32_t value, int os_errno) {
    jump(test, value, 0, 1);
    end(answer(os_errno));
  }

  // The call `number` is allowed if and only if the test of one argument has this result.
  void judge(std::uint32_t number, std::uint32_t argument, std::uint16_t test, std::uint32_t value,
             bool allowed_result) {
    jump(BPF_JEQ, number, 0, 4);
    load_argument(argument);
    jump(test, value, 0, 1);
    end(allowed_result ? SECCOMP_RET_ALLOW : answer(EPERM));
    end(allowed_result ? answer(EPERM) : SECCOMP_RET_ALLOW);
  }

  std::vector<sock_filter> take() { return std::move(code_); }

 private:
  void add(sock_filter instruction) { code_.push_back(instruction); }
  std::vector<sock_filter> code_;
};

void judge_arguments(Program& program, std::uint32_t pid) {
  program.judge(SYS_clone, 0, BPF_JSET, kThread, true);
  program.judge(SYS_tgkill, 0, BPF_JEQ, pid, true);
  program.judge(SYS_mmap, 2, BPF_JSET, kExecutable, false);
  program.judge(SYS_mprotect, 2, BPF_JSET, kExecutable, false);
  program.judge(SYS_pkey_mprotect, 2, BPF_JSET, kExecutable, false);
  // Of itself by either name.
  program.jump(BPF_JEQ, SYS_prlimit64, 0, 5);
  program.load_argument(0);
  program.jump(BPF_JEQ, 0, 1, 0);
  program.jump(BPF_JEQ, pid, 0, 1);
  program.end(SECCOMP_RET_ALLOW);
  program.end(answer(EPERM));
  // Typing for the terminal that messages go to.
  program.jump(BPF_JEQ, SYS_ioctl, 0, 5);
  program.load_argument(1);
  program.jump(BPF_JEQ, kPushInput, 1, 0);
  program.jump(BPF_JEQ, kConsoleInput, 0, 1);
  program.end(answer(EPERM));
  program.end(SECCOMP_RET_ALLOW);
}

}  // namespace

std::vector<sock_filter> build_errno_filter(std::uint32_t pid) {
  Program program;
  program.load(offsetof(seccomp_data, arch));
  program.jump(BPF_JEQ, kAudit, 1, 0);
  program.end(answer(ENOSYS));
  program.load(offsetof(seccomp_data, nr));
  // Those of later kernels, and the calls of x32 behind them.
  program.refuse_if(BPF_JGE, kFirstUnreviewed, ENOSYS);
  // Its flags are in memory, where no filter can see them; libraries fall back to clone(2).
  program.refuse_if(BPF_JEQ, SYS_clone3, ENOSYS);
  for (const std::uint32_t number : kRefused) {
    program.refuse_if(BPF_JEQ, number, EPERM);
  }
  judge_arguments(program, pid);
  program.end(SECCOMP_RET_ALLOW);
  return program.take();
}

}  // namespace aasm::process
