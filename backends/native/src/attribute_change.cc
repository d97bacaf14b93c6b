#include <linux/xattr.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>
#include <utime.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <string>

#include "caller_memory.h"
#include "file_attributes.h"

// What attributes of a file become, as the caller's memory says.
namespace aasm::backend_native {

using schema::Result;
using wire::BrokerFileCall;

namespace {

constexpr std::size_t kMaxAttributeName = 255;    // XATTR_NAME_MAX
constexpr std::uint64_t kMaxAttribute = 65536;    // XATTR_SIZE_MAX
constexpr std::uint64_t kSetxattrArguments = 16;  // struct xattr_args
constexpr std::uint64_t kFileAttributes = 24;     // struct file_attr

// struct timeval and struct utimbuf as the kernel turns them into struct timespec.
Result<std::array<timespec, 2>> read_times(pid_t tid, const AttributeChange& change) {
  std::array<timespec, 2> times{};
  switch (change.times) {
    case TimesForm::kTimespecs:
      AASM_TRY(read_memory(tid, change.address, times.data(), sizeof times));
      break;
    case TimesForm::kTimevals: {
      std::array<timeval, 2> given{};
      AASM_TRY(read_memory(tid, change.address, given.data(), sizeof given));
      for (std::size_t i = 0; i < given.size(); ++i) {
        if (given.at(i).tv_usec < 0 || given.at(i).tv_usec >= 1000000) {
          return kernel_answer(EINVAL);
        }
        times.at(i) = {given.at(i).tv_sec, given.at(i).tv_usec * 1000};
      }
      break;
    }
    case TimesForm::kSeconds: {
      utimbuf given{};
      AASM_TRY(read_memory(tid, change.address, &given, sizeof given));
      times = {timespec{given.actime, 0}, timespec{given.modtime, 0}};
      break;
    }
  }
  return times;
}

Result<void> read_times_change(pid_t tid, FileRequest* request) {
  if (request->change.address != 0) {
    const std::array<timespec, 2> times = AASM_TRY(read_times(tid, request->change));
    request->payload.assign(reinterpret_cast<const char*>(times.data()), sizeof times);
    request->nothing_to_do = times[0].tv_nsec == UTIME_OMIT && times[1].tv_nsec == UTIME_OMIT;
  }
  return request->change.late_ways && !request->nothing_to_do ? kernel_answer(EINVAL)
                                                              : Result<void>();
}

// Byte by byte as the kernel reads it, which does not look behind its end.
Result<std::string> read_attribute_name(pid_t tid, std::uint64_t address) {
  constexpr std::uint64_t kPage = 4096;
  std::string name;
  while (name.size() <= kMaxAttributeName) {
    std::array<char, kMaxAttributeName + 1> piece{};
    const std::uint64_t at = address + name.size();
    const std::size_t size =
        std::min<std::size_t>(kPage - at % kPage, kMaxAttributeName + 1 - name.size());
    AASM_TRY(read_memory(tid, at, piece.data(), size));
    const std::size_t length = ::strnlen(piece.data(), size);
    name.append(piece.data(), length);
    if (length < size) {
      return name.empty() ? Result<std::string>(kernel_answer(ERANGE)) : name;
    }
  }
  return kernel_answer(ERANGE);
}

// A struct that later kernels may make longer: `known` bytes of it, and zeroes.
Result<std::string> read_extensible(pid_t tid, std::uint64_t address, std::uint64_t size,
                                    std::uint64_t known) {
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  if (size < known || size > page) {
    return kernel_answer(size < known ? EINVAL : E2BIG);
  }
  std::string bytes(size, '\0');
  AASM_TRY(read_memory(tid, address, bytes.data(), bytes.size()));
  if (bytes.find_first_not_of('\0', known) != std::string::npos) {
    return kernel_answer(E2BIG);
  }
  bytes.resize(known);
  return bytes;
}

Result<void> read_attribute_change(pid_t tid, FileRequest* request) {
  AttributeChange& change = request->change;
  if (change.in_struct) {
    const std::string bytes =
        AASM_TRY(read_extensible(tid, change.address, change.size, kSetxattrArguments));
    std::array<std::uint32_t, 2> size_and_flags{};
    std::memcpy(&change.address, bytes.data(), sizeof change.address);
    std::memcpy(size_and_flags.data(), bytes.data() + sizeof change.address, sizeof size_and_flags);
    change.size = size_and_flags[0];
    request->call.flags = size_and_flags[1];
  }
  if ((request->call.flags & ~std::uint64_t{XATTR_CREATE | XATTR_REPLACE}) != 0) {
    return kernel_answer(EINVAL);
  }
  request->payload = AASM_TRY(read_attribute_name(tid, change.name_address)) + '\0';
  if (change.size > kMaxAttribute) {
    return kernel_answer(E2BIG);
  }
  if (change.size > 0) {
    std::string value(change.size, '\0');
    AASM_TRY(read_memory(tid, change.address, value.data(), value.size()));
    request->payload += value;
  }
  return {};
}

}  // namespace

Result<void> read_change(pid_t tid, FileRequest* request) {
  const AttributeChange& change = request->change;
  const auto call = static_cast<BrokerFileCall>(request->call.call);
  if (call == BrokerFileCall::kChangeTimes) {
    return read_times_change(tid, request);
  }
  if (call == BrokerFileCall::kSetAttribute) {
    return read_attribute_change(tid, request);
  }
  if (call == BrokerFileCall::kRemoveAttribute) {
    request->payload = AASM_TRY(read_attribute_name(tid, change.name_address)) + '\0';
  } else if (call == BrokerFileCall::kSetFlags) {
    request->payload = AASM_TRY(read_extensible(tid, change.address, change.size, kFileAttributes));
  } else if (call == BrokerFileCall::kControl) {
    request->payload.assign(change.size, '\0');
    AASM_TRY(read_memory(tid, change.address, request->payload.data(), request->payload.size()));
  }
  return {};
}

}  // namespace aasm::backend_native
