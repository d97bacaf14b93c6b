#include "broker.h"

#include <linux/mman.h>
#include <linux/prctl.h>
#include <linux/sched.h>

#include "broker_call.h"
#include "install.h"
#include "sys.h"

AASM_HELPER_HANDLER;

// Of a build made for tests.
#ifndef AASM_HELPER_LATE_BROKER
#define AASM_HELPER_LATE_BROKER 0
#endif

namespace aasm::helper {

namespace {

constexpr int kSigusr1 = 10;
constexpr uint64_t kInterrupt = 1ULL << (kSigusr1 - 1);
constexpr int kBlock = 0;
constexpr int kUnblock = 1;
constexpr long kEmfile = 24;
constexpr long kEnobufs = 105;

// What has a thread, and the one that the next request is received into.
BrokerCall* calls[wire::kMaxBrokerWaiting + 1];
BrokerCall* next;
long own_group;           // our process, for tgkill(2)
uint64_t processors[16];  // that we may use while nobody keeps us near (broker_placement.h)
long processors_size;

void change_mask(int how, uint64_t signals) {
  raw_call(__NR_rt_sigprocmask, how, address(&signals), 0, sizeof(signals));
}

bool is_free(const BrokerCall& call) {
  return __atomic_load_n(&call.tid, __ATOMIC_ACQUIRE) == 0;
}

// Another call without a thread, or null.
BrokerCall* other_call() {
  for (BrokerCall*& call : calls) {
    if (call == nullptr) {
      call = static_cast<BrokerCall*>(
          map_bytes(sizeof(BrokerCall), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1));
    }
    if (call != nullptr && call != next && is_free(*call)) {
      return call;
    }
    if (call == nullptr) {
      return nullptr;
    }
  }
  return nullptr;
}

void run_call(void* argument) {
  auto& call = *static_cast<BrokerCall*>(argument);
  if (processors_size > 0) {
    raw_call(__NR_sched_setaffinity, 0, processors_size, address(processors));
  }
  change_mask(kUnblock, kInterrupt);
  do_waiting(call);
  change_mask(kBlock, kInterrupt);
  close_descriptors_of(call);
  // The kernel zeroes the tid behind our last use of the stack.
  raw_call(__NR_exit, 0);
}

// Hands `next` to a thread.
void start_thread() {
  BrokerCall* spare = other_call();
  if (spare == nullptr) {
    answer_fault(*next, -kEnobufs);
    close_descriptors_of(*next);
    return;
  }
  constexpr long kFlags = CLONE_VM | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
                          CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;
  const long tid = raw_clone_thread(__NR_clone, kFlags, next->stack + sizeof(next->stack),
                                    &next->tid, run_call, next);
  if (tid < 0) {
    answer_fault(*next, tid);
    close_descriptors_of(*next);
    return;
  }
  next = spare;
}

void cancel(uint64_t id) {
  for (const BrokerCall* call : calls) {
    const int tid = call == nullptr ? 0 : __atomic_load_n(&call->tid, __ATOMIC_ACQUIRE);
    if (tid != 0 && call->call == id) {
      raw_call(__NR_tgkill, own_group, tid, kSigusr1);
    }
  }
}

// Takes the descriptors that came with a message. False when some were lost.
void take_descriptors(BrokerCall& call, const Header& header) {
  // SAFETY: the kernel wrote the head at the start of the buffer, which is aligned to eight.
  const auto* head = static_cast<const ControlHead*>(header.control);
  if (header.control_size < sizeof(*head) || head->level != kSolSocket ||
      head->type != kScmRights) {
    return;
  }
  const auto* fds = reinterpret_cast<const int*>(head + 1);
  const size_t count = (head->size - sizeof(*head)) / sizeof(int);
  for (size_t i = 0; i < count && i < wire::kMaxBrokerRights + 2; ++i) {
    call.fds[call.num_fds++] = fds[i];
  }
}

// Receives the next request into `next`; size 0: none, or one that is answered already. False at
// the end of file.
bool receive(int socket_fd, long* size) {
  next->num_fds = 0;
  next->done = 0;
  Piece pieces[2] = {{&next->request, sizeof(next->request)},
                     {next->payload, sizeof(next->payload)}};
  Header header = {nullptr, 0, pieces, 2, next->control, sizeof(next->control), 0};
  *size = receive_header(socket_fd, header, kCloseOnExecFd);
  if (*size <= 0) {
    return *size == -kEintr;
  }
  take_descriptors(*next, header);
  next->call = next->request.call;
  next->reply_fd = socket_fd;
  if ((header.flags & kControlCut) != 0) {
    answer_fault(*next, -kEmfile);  // no room in our table for what came with it
    close_descriptors_of(*next);
    *size = 0;
  } else if ((header.flags & kTruncated) != 0) {
    *size = 1;  // less than any request has
  }
  return true;
}

void serve(long size) {
  if (!check_request(*next, size)) {
    answer_fault(*next, -kEinval);
    close_descriptors_of(*next);
  } else if (next->request.kind == static_cast<uint32_t>(wire::BrokerKind::kCancel)) {
    cancel(next->call);
  } else if (do_at_once(*next)) {
    close_descriptors_of(*next);
  } else {
    start_thread();
  }
}

constexpr long kFutexWait = 0;
constexpr long kFutexWake = 1;

void tell_ready(wire::StatusPage& page) {
  __atomic_store_n(&page.broker_ready, 1, __ATOMIC_RELEASE);
  raw_call(__NR_futex, address(&page.broker_ready), kFutexWake, 1, 0, 0, 0);
}

// The program may make calls as soon as it is executed, and the end of the report pipe says that it
// is: so nobody else may have that open any more.
long wait_for_broker(wire::StatusPage& page) {
  constexpr int64_t kPatience[2] = {10, 0};  // struct timespec
  while (__atomic_load_n(&page.broker_ready, __ATOMIC_ACQUIRE) == 0) {
    const long result =
        raw_call(__NR_futex, address(&page.broker_ready), kFutexWait, 0, address(kPatience), 0, 0);
    if (result < 0 && result != -kEagain && result != -kEintr) {
      return result;
    }
  }
  return 0;
}

// Leaves nothing of the launch child's: descriptors, the page that is read as its word, signals.
void become_broker(int socket_fd, wire::StatusPage& page) {
  const int32_t keep[] = {socket_fd};
  if (AASM_HELPER_LATE_BROKER != 0) {
    constexpr int64_t kLate[2] = {0, 300000000};  // struct timespec
    raw_call(__NR_nanosleep, address(kLate), 0);
  }
  change_mask(kBlock, ~0ULL);
  process_control(PR_SET_NAME, address("aasm-broker"));
  process_control(PR_SET_DUMPABLE, 0);
  close_all_except(keep, 1);
  processors_size = raw_call(__NR_sched_getaffinity, 0, sizeof(processors), address(processors));
  tell_ready(page);
  raw_call(__NR_munmap, address(&page), wire::kStatusSize);
  raw_call(__NR_chdir, address("/"));
  // struct kernel_sigaction: handler, flags, restorer, mask.
  const uint64_t action[4] = {reinterpret_cast<uintptr_t>(&aasm_signal_handler), kHandlerFlags,
                              reinterpret_cast<uintptr_t>(&aasm_signal_return), 0};
  raw_call(__NR_rt_sigaction, kSigusr1, address(action), 0, sizeof(uint64_t));
}

[[noreturn]] void run_broker(int socket_fd, wire::StatusPage& page) {
  become_broker(socket_fd, page);
  own_group = own_pid();
  next = other_call();
  long size = 0;
  while (next != nullptr && receive(socket_fd, &size)) {
    if (size > 0) {
      serve(size);
    }
  }
  exit_process(0);
}

}  // namespace

long start_broker(const Frame& frame, wire::StatusPage& page) {
  constexpr long kSigchld = 17;
  const long pid = raw_clone(__NR_clone, CLONE_PARENT | CLONE_PARENT_SETTID | kSigchld,
                             address(&page.broker_pid), 0);
  if (pid == 0) {
    run_broker(frame.header->broker_fd, page);
  }
  close_fd(frame.header->broker_fd);
  return pid < 0 ? pid : wait_for_broker(page);
}

}  // namespace aasm::helper
