#include <fcntl.h>
#include <linux/openat2.h>

#include <string>

#include "caller_memory.h"
#include "file_in_flight.h"

// The names of a call on files, and what they begin at.
namespace aasm::backend_native {

using schema::Result;

namespace {

// Where a name begins: nothing for an absolute one, unless it is looked up below a directory.
Result<process::Fd> start_of(Attribution& callers, pid_t tid, const NameArgument& argument,
                             const std::string& name, std::uint64_t resolve) {
  const bool below = (resolve & (RESOLVE_BENEATH | RESOLVE_IN_ROOT)) != 0;
  if (!name.empty() && name[0] == '/' && !below) {
    return process::Fd();
  }
  if (argument.directory != AT_FDCWD) {
    return callers.take_descriptor(tid, argument.directory);
  }
  // Its root is ours: what changes roots is closed (syscall_closed.inc).
  return process::open_file("/proc/" + std::to_string(tid) + "/cwd", O_PATH | O_DIRECTORY);
}

// What the call's first name is, where it has one.
Result<std::string> read_first_name(pid_t tid, const FileRequest& request) {
  const bool may_be_empty =
      (request.call.how & AT_EMPTY_PATH) != 0 &&
      (request.second || changes_attributes(request) || is_execution(request.call));
  if (request.change.may_be_descriptor && request.first->address == 0) {
    return std::string();
  }
  return read_name(tid, request.first->address, may_be_empty);
}

bool by_descriptor(const wire::BrokerFile& call) {
  return (call.how & wire::kHowDescriptor) != 0;
}

}  // namespace

// In the order in which the kernel reads and checks them.
Result<void> FileCalls::read_names(InFlight& call) {
  FileRequest& request = call.request;
  if (request.link_text) {
    call.second_name = AASM_TRY(read_name(call.tid, request.link_text->address, false));
  }
  if (!by_descriptor(request.call)) {
    call.first_name = AASM_TRY(read_first_name(call.tid, request));
  }
  if (request.second) {
    call.second_name = AASM_TRY(read_name(call.tid, request.second->address, false));
  }
  if (request.change.may_be_descriptor && call.first_name.empty() &&
      request.first->directory >= 0) {
    request.call.how |= wire::kHowDescriptor;
  }
  if (by_descriptor(request.call)) {
    return take_itself(call);
  }
  call.first_start =
      AASM_TRY(start_of(callers_, call.tid, *request.first, call.first_name, request.call.resolve));
  if (request.second) {
    call.second_start =
        AASM_TRY(start_of(callers_, call.tid, *request.second, call.second_name, 0));
  }
  return {};
}

// The descriptor that the call is on, which for such calls has to be more than a reference.
Result<void> FileCalls::take_itself(InFlight& call) {
  call.first_start = AASM_TRY(callers_.take_descriptor(call.tid, call.request.first->directory));
  const int flags = ::fcntl(call.first_start.get(), F_GETFL);
  return flags < 0 || (flags & O_PATH) != 0 ? kernel_answer(EBADF) : Result<void>();
}

}  // namespace aasm::backend_native
