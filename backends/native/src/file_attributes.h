#pragma once

#include <linux/seccomp.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "aasm/schema/result.h"

#include "file_request.h"

// The calls that change attributes of a file: mode, owner, times, extended attributes, flags. They
// do so by a descriptor that was opened for reading alone too, and Landlock judges none of them.
namespace aasm::backend_native {

// By number, ioctl(2) among them, which does so by some of its requests.
const std::vector<std::int32_t>& attribute_calls();

// The requests of ioctl(2) that change attributes, on every filesystem that has them.
inline constexpr std::uint32_t kIoctlSetFlags = 0x40086602;       // FS_IOC_SETFLAGS, linux/fs.h
inline constexpr std::uint32_t kIoctlSetAttributes = 0x401C5820;  // FS_IOC_FSSETXATTR

constexpr bool control_changes_attributes(std::uint32_t request) {
  return request == kIoctlSetFlags || request == kIoctlSetAttributes;
}

// As read_file_request(), of these calls alone.
std::optional<schema::Result<FileRequest>> read_attribute_request(const seccomp_data& data);

// Copies what the attributes become into the request; errors as the kernel's.
schema::Result<void> read_change(pid_t tid, FileRequest* request);

}  // namespace aasm::backend_native
