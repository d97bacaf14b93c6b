#include "shared_memory.h"

#include <sys/ipc.h>
#include <sys/syscall.h>

#include <algorithm>

#include "syscall_names.h"

namespace aasm::backend_native {
namespace {

// linux/shm.h, linux/sem.h, linux/msg.h: the *_STAT and *_STAT_ANY, which take a place.
constexpr std::int32_t kShmStat = 13;
constexpr std::int32_t kShmStatAny = 15;
constexpr std::int32_t kSemStat = 18;
constexpr std::int32_t kSemStatAny = 20;
constexpr std::int32_t kMsgStat = 11;
constexpr std::int32_t kMsgStatAny = 13;

std::int32_t word(const seccomp_data& call, std::size_t index) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(call.args[index]));
}

MemoryKind kind_of(std::int32_t number) {
  switch (number) {
    case SYS_semget:
    case SYS_semop:
    case SYS_semtimedop:
    case SYS_semctl:
      return MemoryKind::kSemaphores;
    case SYS_msgget:
    case SYS_msgsnd:
    case SYS_msgrcv:
    case SYS_msgctl:
      return MemoryKind::kMessages;
    default:
      return MemoryKind::kMemory;
  }
}

bool takes_place(std::int32_t number, std::int32_t command) {
  switch (number) {
    case SYS_shmctl:
      return command == kShmStat || command == kShmStatAny;
    case SYS_semctl:
      return command == kSemStat || command == kSemStatAny;
    default:
      return command == kMsgStat || command == kMsgStatAny;
  }
}

}  // namespace

const std::vector<std::int32_t>& memory_calls() {
  static const std::vector<std::int32_t> calls = {
      SYS_shmget, SYS_shmat,  SYS_shmctl, SYS_semget, SYS_semop,   SYS_semtimedop, SYS_semctl,
      SYS_msgget, SYS_msgsnd, SYS_msgrcv, SYS_msgctl, SYS_mq_open, SYS_mq_unlink};
  return calls;
}

MemoryCall memory_call(std::int32_t number) {
  switch (number) {
    case SYS_shmget:
    case SYS_semget:
    case SYS_msgget:
      return MemoryCall::kMakes;
    case SYS_mq_open:
    case SYS_mq_unlink:
      return MemoryCall::kNames;
    default:
      break;
  }
  const std::vector<std::int32_t>& calls = memory_calls();
  return std::find(calls.begin(), calls.end(), number) == calls.end() ? MemoryCall::kNone
                                                                      : MemoryCall::kUses;
}

MemoryUse memory_use(const seccomp_data& call) {
  MemoryUse use;
  use.kind = kind_of(call.nr);
  if (memory_call(call.nr) == MemoryCall::kMakes) {
    const bool messages = call.nr == SYS_msgget;
    use.key = word(call, 0);
    use.size = messages ? 0 : call.args[1];
    use.flags = word(call, messages ? 1 : 2);
    return use;
  }
  use.id = word(call, 0);
  if (call.nr == SYS_shmctl || call.nr == SYS_semctl || call.nr == SYS_msgctl) {
    const std::int32_t command = word(call, call.nr == SYS_semctl ? 2 : 1);
    use.by_place = takes_place(call.nr, command);
    use.removes = command == IPC_RMID;
  }
  return use;
}

std::string memory_text(const seccomp_data& call) {
  const std::string name = syscall_name(kNativeArch, call.nr);
  return memory_call(call.nr) == MemoryCall::kNames ? name
                                                    : name + " " + std::to_string(word(call, 0));
}

}  // namespace aasm::backend_native
