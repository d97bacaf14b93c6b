#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "aasm/schema/result.h"

// The memory of a blocked caller (process_vm_readv(2)). It may change at any time: what is judged
// is read once. The error of an address that cannot be read is EFAULT, of kind kInvalidArgument:
// the kernel would answer so too. Any other error is ours.
namespace aasm::backend_native {

// A span of the caller's memory, as in struct iovec.
struct RemoteSpan {
  std::uint64_t address = 0;
  std::uint64_t size = 0;
};

schema::Result<void> read_memory(pid_t tid, std::uint64_t address, void* to, std::size_t size);
schema::Result<void> write_memory(pid_t tid, std::uint64_t address, const void* from,
                                  std::size_t size);

// At most `size` bytes of the spans in order, from byte `offset` of them all.
schema::Result<std::string> read_spans(pid_t tid, const std::vector<RemoteSpan>& spans,
                                       std::size_t offset, std::size_t size);

// What the kernel itself would answer: not recorded.
schema::Error kernel_answer(int os_errno);
bool is_kernel_answer(const schema::Error& error);

}  // namespace aasm::backend_native
