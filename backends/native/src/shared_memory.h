#pragma once

#include <linux/seccomp.h>

#include <cstdint>
#include <string>
#include <vector>

// The calls by which processes share memory, semaphores and messages under a number or a name:
// System V IPC (sysvipc(7)) and POSIX message queues. Pure.
namespace aasm::backend_native {

// shmget, semget, msgget
enum class MemoryKind : std::uint8_t { kMemory, kSemaphores, kMessages };

enum class MemoryCall : std::uint8_t {
  kNone,
  kMakes,  // or finds by a key
  kUses,   // by its number
  kNames,  // a queue, by a name that every process of the host can use
};
MemoryCall memory_call(std::int32_t number);
const std::vector<std::int32_t>& memory_calls();

// What a call that kMakes or kUses is about, from its registers.
struct MemoryUse {
  MemoryKind kind = MemoryKind::kMemory;
  std::int32_t id = 0;     // kUses
  bool by_place = false;   // `id` is a place in the kernel's table, so of anybody's
  bool removes = false;    // IPC_RMID
  std::int32_t key = 0;    // kMakes
  std::uint64_t size = 0;  // or number of semaphores
  std::int32_t flags = 0;
};
MemoryUse memory_use(const seccomp_data& call);

// "shmat 3": the call and its key or number; of one that kNames only the call.
std::string memory_text(const seccomp_data& call);

}  // namespace aasm::backend_native
