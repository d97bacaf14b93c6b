#pragma once

#include <linux/seccomp.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "aasm/schema/result.h"
#include "aasm/wire/broker_file.h"

#include "file_judge.h"

// The calls on files that are judged by what their arguments point to.
namespace aasm::backend_native {

// A name in the caller's memory, and where a relative one begins.
struct NameArgument {
  std::int32_t directory = -100;  // AT_FDCWD, or a descriptor of the caller's
  std::uint64_t address = 0;
};

enum class TimesForm : std::uint8_t { kTimespecs, kTimevals, kSeconds };

// What attributes become, in the caller's memory (file_attributes.h).
struct AttributeChange {
  TimesForm times = TimesForm::kTimespecs;
  std::uint64_t name_address = 0;  // of an extended attribute
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  bool in_struct = false;          // setxattrat(2): address, size and flags are in one
  bool may_be_descriptor = false;  // an empty name, or none, makes it a call on the descriptor
  bool late_ways = false;          // unknown AT_*, EINVAL behind the reading of times
};

// One of them, by its registers.
struct FileRequest {
  wire::BrokerFile call{};  // without given, process, thread, sizes and limit
  std::optional<NameArgument> first;
  std::optional<NameArgument> second;
  std::optional<NameArgument> link_text;  // of a symbolic link: `directory` means nothing
  std::uint64_t how_address = 0;          // openat2(2): its struct open_how
  std::uint64_t how_size = 0;
  AttributeChange change;
  std::string payload;         // what the attributes become, as the broker wants it
  bool nothing_to_do = false;  // the kernel looks at no name
  bool close_on_exec = false;
};

// Those that are about names, by number.
const std::vector<std::int32_t>& name_calls();

// nullopt: none of these calls. The error is the kernel's answer to arguments that it refuses
// without looking at a name.
std::optional<schema::Result<FileRequest>> read_file_request(const seccomp_data& data);

// Copies what openat2(2) is told into the request; errors as the kernel's.
schema::Result<void> read_open_how(pid_t tid, FileRequest* request);

// A name as the caller has it now: EFAULT, ENAMETOOLONG and, unless it may be empty, ENOENT as
// kernel_answer().
schema::Result<std::string> read_name(pid_t tid, std::uint64_t address, bool may_be_empty);

// What the request does, when what its first name leads to exists or not.
std::vector<FileOperation> operations_of(const FileRequest& request, bool exists);

bool is_open(const wire::BrokerFile& call);

inline bool changes_attributes(const FileRequest& request) {
  return wire::changes_attributes(request.call.call);
}

}  // namespace aasm::backend_native
