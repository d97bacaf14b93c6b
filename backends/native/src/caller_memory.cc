#include "caller_memory.h"

#include <sys/uio.h>

#include <algorithm>
#include <cerrno>

#include "aasm/process/fd.h"

namespace aasm::backend_native {
namespace {

using schema::Error;
using schema::ErrorCode;
using schema::Result;

// SAFETY: addresses of the caller are only ever passed to the kernel.
void* remote_pointer(std::uint64_t address) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
}

Error memory_error(int os_errno) {
  return os_errno == EFAULT ? kernel_answer(EFAULT)
                            : process::system_error("reading the caller's memory", os_errno);
}

}  // namespace

Error kernel_answer(int os_errno) {
  return Error(ErrorCode::kInvalidArgument, "the kernel's own answer", os_errno);
}

bool is_kernel_answer(const Error& error) {
  return error.code() == ErrorCode::kInvalidArgument && error.os_errno() != 0;
}

Result<void> read_memory(pid_t tid, std::uint64_t address, void* to, std::size_t size) {
  if (size == 0) {
    return {};
  }
  const iovec local = {to, size};
  const iovec remote = {remote_pointer(address), size};
  const ssize_t got = ::process_vm_readv(tid, &local, 1, &remote, 1, 0);
  if (got < 0) {
    return memory_error(errno);
  }
  return static_cast<std::size_t>(got) == size ? Result<void>() : kernel_answer(EFAULT);
}

Result<void> write_memory(pid_t tid, std::uint64_t address, const void* from, std::size_t size) {
  const iovec local = {const_cast<void*>(from), size};
  const iovec remote = {remote_pointer(address), size};
  const ssize_t put = ::process_vm_writev(tid, &local, 1, &remote, 1, 0);
  if (put < 0) {
    return memory_error(errno);
  }
  return static_cast<std::size_t>(put) == size ? Result<void>() : kernel_answer(EFAULT);
}

Result<std::string> read_spans(pid_t tid, const std::vector<RemoteSpan>& spans, std::size_t offset,
                               std::size_t size) {
  std::vector<iovec> remote;
  std::size_t wanted = 0;
  for (const RemoteSpan& span : spans) {
    if (offset >= span.size) {
      offset -= span.size;
      continue;
    }
    const std::size_t take = std::min<std::size_t>(span.size - offset, size - wanted);
    if (take == 0) {
      break;
    }
    remote.push_back({remote_pointer(span.address + offset), take});
    wanted += take;
    offset = 0;
  }
  std::string bytes(wanted, '\0');
  if (wanted == 0) {
    return bytes;
  }
  const iovec local = {bytes.data(), wanted};
  const ssize_t got = ::process_vm_readv(tid, &local, 1, remote.data(), remote.size(), 0);
  if (got < 0) {
    return memory_error(errno);
  }
  if (static_cast<std::size_t>(got) != wanted) {
    return kernel_answer(EFAULT);
  }
  return bytes;
}

}  // namespace aasm::backend_native
