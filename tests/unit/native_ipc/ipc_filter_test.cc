#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sys/ipc.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <cerrno>
#include <initializer_list>

#include <gtest/gtest.h>

#include "bpf.h"
#include "bpf_eval.h"
#include "classify.h"
#include "ipc_builder.h"
#include "shared_memory.h"
#include "signal_target.h"

// Which calls a stated ipc has notified, and what they are answered before anybody asks whether
// what they name is of the tree.
namespace aasm::backend_native {
namespace {

using testing::ipc_spec;
using testing::open_sockets;
using testing::setting;

seccomp_data call_of(int number, std::initializer_list<std::uint64_t> args = {}) {
  seccomp_data call{};
  call.nr = number;
#if defined(__x86_64__)
  call.arch = AUDIT_ARCH_X86_64;
#else
  call.arch = AUDIT_ARCH_AARCH64;
#endif
  std::size_t i = 0;
  for (const std::uint64_t arg : args) {
    call.args[i++] = arg;
  }
  return call;
}

FilterSpec filter_of(std::initializer_list<schema::PolicyRule> rules) {
  FilterSpec spec = make_filter_spec(nullptr, "errno").value();
  spec.ipc = ipc_spec(rules);
  return spec;
}

bool runs(const FilterSpec& spec, int number) {
  return evaluate_filter(build_filter(spec), call_of(number)).value() == SECCOMP_RET_ALLOW;
}

TEST(IpcFilterTest, OnlyWhatIsStatedIsNotified) {
  const FilterSpec none = make_filter_spec(nullptr, "errno").value();
  const FilterSpec signals = filter_of({open_sockets(), setting("signals", "inside")});
  const FilterSpec memory = filter_of({open_sockets(), setting("shared_memory", "inside")});
  const FilterSpec sockets = filter_of({});
  for (const std::int32_t number : signal_calls()) {
    EXPECT_TRUE(runs(none, number) && runs(memory, number) && runs(sockets, number)) << number;
    EXPECT_FALSE(runs(signals, number)) << number;
  }
  for (const std::int32_t number : memory_calls()) {
    EXPECT_TRUE(runs(none, number) && runs(signals, number) && runs(sockets, number)) << number;
    EXPECT_FALSE(runs(memory, number)) << number;
  }
  for (const int number : {SYS_connect, SYS_bind, SYS_sendmsg, SYS_sendmmsg}) {
    EXPECT_TRUE(runs(none, number) && runs(signals, number) && runs(memory, number)) << number;
    EXPECT_FALSE(runs(sockets, number)) << number;
  }
  for (const int number : {SYS_socket, SYS_socketpair, SYS_listen, SYS_setsockopt, SYS_sendto}) {
    EXPECT_TRUE(runs(sockets, number)) << "ipc has nothing to say: " << number;
  }
}

TEST(IpcFilterTest, ARuleOnSystemCallsOutranks) {
  const schema::Requirement denied =
      testing::requirement(schema::Domain::kSyscall, "syscalls.allow",
                           {testing::rule("s", schema::RuleEffect::kDeny, "call",
                                          schema::SelectorType::kSyscall, "kill")});
  FilterSpec spec = make_filter_spec(&denied, "errno").value();
  spec.ipc = ipc_spec({open_sockets(), setting("signals", "inside")});
  const Classification answer = classify({call_of(SYS_kill, {1, 0}), 1, 1}, spec);
  EXPECT_EQ(answer.answer, AnswerKind::kRefuse);
  EXPECT_EQ(answer.event.domain, schema::Domain::kSyscall);
}

TEST(IpcFilterTest, ASignalIsRefusedUnlessItStaysInside) {
  const FilterSpec spec = filter_of({open_sockets(), setting("signals", "inside")});
  const Classification answer = classify({call_of(SYS_tgkill, {8, 9, 15}), 1, 1}, spec);
  EXPECT_EQ(answer.answer, AnswerKind::kUnlessInside);
  EXPECT_EQ(answer.event.os_errno, EPERM);
  EXPECT_EQ(answer.event.rule, "ipc.signals");
  EXPECT_EQ(answer.event.object.name, "9");
}

TEST(IpcFilterTest, MemoryIsMadeByTheBrokerAndUsedOnlyWhenMadeInside) {
  const FilterSpec spec = filter_of({open_sockets(), setting("shared_memory", "inside")});
  const auto answer = [&spec](int number) { return classify({call_of(number, {5}), 1, 1}, spec); };
  for (const int number : {SYS_shmget, SYS_semget, SYS_msgget}) {
    EXPECT_EQ(answer(number).answer, AnswerKind::kBroker) << number;
  }
  for (const int number : {SYS_shmat, SYS_semop, SYS_msgrcv, SYS_shmctl}) {
    EXPECT_EQ(answer(number).answer, AnswerKind::kUnlessInside) << number;
  }
  const Classification queue = answer(SYS_mq_open);
  EXPECT_EQ(queue.answer, AnswerKind::kRefuse);
  EXPECT_EQ(queue.event.object.name, "mq_open");
  EXPECT_EQ(queue.event.os_errno, EACCES);
  EXPECT_EQ(answer(SYS_shmat).event.object.name, "shmat 5");
}

TEST(MemoryUseTest, IsReadFromTheRegistersOfEachCall) {
  const MemoryUse made = memory_use(call_of(SYS_shmget, {7, 4096, IPC_CREAT | 0600}));
  EXPECT_EQ(made.key, 7);
  EXPECT_EQ(made.size, 4096U);
  EXPECT_EQ(made.flags, IPC_CREAT | 0600);
  EXPECT_EQ(memory_use(call_of(SYS_msgget, {7, IPC_EXCL})).flags, IPC_EXCL);
  EXPECT_EQ(memory_use(call_of(SYS_semop, {3})).kind, MemoryKind::kSemaphores);
  EXPECT_TRUE(memory_use(call_of(SYS_shmctl, {3, IPC_RMID})).removes);
  EXPECT_TRUE(memory_use(call_of(SYS_semctl, {3, 0, IPC_RMID})).removes);
  EXPECT_FALSE(memory_use(call_of(SYS_semctl, {3, IPC_RMID, IPC_STAT})).removes);
  EXPECT_TRUE(memory_use(call_of(SYS_shmctl, {3, 13})).by_place) << "SHM_STAT takes a place";
  EXPECT_TRUE(memory_use(call_of(SYS_semctl, {3, 0, 18})).by_place) << "SEM_STAT";
  EXPECT_TRUE(memory_use(call_of(SYS_msgctl, {3, 11})).by_place) << "MSG_STAT";
  EXPECT_FALSE(memory_use(call_of(SYS_shmctl, {3, 11})).by_place) << "SHM_LOCK";
}

}  // namespace
}  // namespace aasm::backend_native
