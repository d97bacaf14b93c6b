#include "file_attributes.h"

#include <fcntl.h>
#include <linux/ioctl.h>
#include <sys/syscall.h>

#include <cerrno>
#include <utility>

#include "caller_memory.h"
#include "file_registers.h"

namespace aasm::backend_native {
namespace {

using schema::Result;
using wire::BrokerFileCall;

// The same numbers on every architecture; headers of Linux 6.1 lack them.
constexpr std::int32_t kFchmodat2 = 452;
constexpr std::int32_t kSetxattrat = 463;
constexpr std::int32_t kRemovexattrat = 466;
constexpr std::int32_t kFileSetattr = 469;

constexpr std::uint32_t kAtKnown = AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH;

FileRequest change_of(BrokerFileCall call, NameArgument name, std::uint32_t how = 0) {
  FileRequest request;
  request.call.call = static_cast<std::uint32_t>(call);
  request.call.how = how;
  request.first = name;
  return request;
}

// By the descriptor itself.
FileRequest change_by_descriptor(BrokerFileCall call, const Registers& args) {
  return change_of(call, {static_cast<std::int32_t>(args.word(0)), 0},
                   AT_EMPTY_PATH | wire::kHowDescriptor);
}

FileRequest with_mode(FileRequest request, std::uint32_t mode) {
  request.call.mode = mode & 0xFFFFU;  // umode_t
  return request;
}

FileRequest with_owner(FileRequest request, std::uint32_t user, std::uint32_t group) {
  request.call.mode = user;
  request.call.value = group;
  return request;
}

FileRequest with_times(FileRequest request, TimesForm form, std::uint64_t address) {
  request.change.times = form;
  request.change.address = address;
  return request;
}

// `first` is the register of the attribute's name, before its value, its size and flags.
FileRequest with_attribute(FileRequest request, const Registers& args, std::size_t first) {
  request.change.name_address = args.whole(first);
  if (request.call.call == static_cast<std::uint32_t>(BrokerFileCall::kSetAttribute)) {
    request.change.address = args.whole(first + 1);
    request.change.size = args.whole(first + 2);
    request.call.flags = args.word(first + 3);
  }
  return request;
}

// What newer calls do by descriptor where the name is empty or none.
FileRequest or_descriptor(FileRequest request) {
  request.change.may_be_descriptor = (request.call.how & AT_EMPTY_PATH) != 0;
  return request;
}

Result<FileRequest> known_ways(FileRequest request, std::uint32_t known = kAtKnown) {
  if ((request.call.how & ~(known | wire::kHowDescriptor)) != 0) {
    return kernel_answer(EINVAL);
  }
  return request;
}

Result<FileRequest> setxattrat_request(const Registers& args) {
  FileRequest request =
      AASM_TRY(known_ways(change_of(BrokerFileCall::kSetAttribute, args.name_at(0), args.word(2))));
  request.change.name_address = args.whole(3);
  request.change.address = args.whole(4);
  request.change.in_struct = true;
  request.change.size = args.whole(5);
  return or_descriptor(std::move(request));
}

Result<FileRequest> file_setattr_request(const Registers& args) {
  FileRequest request =
      AASM_TRY(known_ways(change_of(BrokerFileCall::kSetFlags, args.name_at(0), args.word(4))));
  request.change.address = args.whole(2);
  request.change.size = args.whole(3);
  return or_descriptor(std::move(request));
}

// utimensat(2) and futimesat(2); without a name by the descriptor.
Result<FileRequest> times_request(const Registers& args, TimesForm form, std::uint32_t how) {
  if (args.whole(1) != 0 || static_cast<std::int32_t>(args.word(0)) == AT_FDCWD) {
    FileRequest request = with_times(change_of(BrokerFileCall::kChangeTimes, args.name_at(0), how),
                                     form, args.whole(2));
    request.change.late_ways = (how & ~kAtKnown) != 0;
    return request;
  }
  FileRequest request =
      with_times(change_by_descriptor(BrokerFileCall::kChangeTimes, args), form, args.whole(2));
  request.change.late_ways = how != 0;
  return request;
}

// Those that take a descriptor.
std::optional<Result<FileRequest>> read_descriptor_form(const seccomp_data& data) {
  const Registers args(data);
  switch (data.nr) {
    case SYS_fchmod:
      return with_mode(change_by_descriptor(BrokerFileCall::kChangeMode, args), args.word(1));
    case SYS_fchown:
      return with_owner(change_by_descriptor(BrokerFileCall::kChangeOwner, args), args.word(1),
                        args.word(2));
    case SYS_fsetxattr:
      return with_attribute(change_by_descriptor(BrokerFileCall::kSetAttribute, args), args, 1);
    case SYS_fremovexattr:
      return with_attribute(change_by_descriptor(BrokerFileCall::kRemoveAttribute, args), args, 1);
    case SYS_ioctl: {
      FileRequest request = change_by_descriptor(BrokerFileCall::kControl, args);
      request.call.value = args.word(1);
      request.change.address = args.whole(2);
      // Named after a long, an int.
      request.change.size = args.word(1) == kIoctlSetFlags ? sizeof(int) : _IOC_SIZE(args.word(1));
      return request;
    }
    default:
      return std::nullopt;
  }
}

// Those that take a directory and a name.
std::optional<Result<FileRequest>> read_at_form(const seccomp_data& data) {
  const Registers args(data);
  switch (data.nr) {
    case SYS_fchmodat:
      return with_mode(change_of(BrokerFileCall::kChangeMode, args.name_at(0)), args.word(2));
    case kFchmodat2:
      return known_ways(with_mode(
          change_of(BrokerFileCall::kChangeMode, args.name_at(0), args.word(3)), args.word(2)));
    case SYS_fchownat:
      return known_ways(
          with_owner(change_of(BrokerFileCall::kChangeOwner, args.name_at(0), args.word(4)),
                     args.word(2), args.word(3)));
    case SYS_utimensat:
      return times_request(args, TimesForm::kTimespecs, args.word(3));
    case kSetxattrat:
      return setxattrat_request(args);
    case kRemovexattrat:
      return known_ways(or_descriptor(with_attribute(
          change_of(BrokerFileCall::kRemoveAttribute, args.name_at(0), args.word(2)), args, 3)));
    case kFileSetattr:
      return file_setattr_request(args);
    default:
      return read_descriptor_form(data);
  }
}

// Those that take a name.
std::optional<Result<FileRequest>> read_name_form(const seccomp_data& data) {
  const Registers args(data);
  const NameArgument name = args.name(0);
  switch (data.nr) {
#if defined(SYS_chmod)
    case SYS_chmod:
      return with_mode(change_of(BrokerFileCall::kChangeMode, name), args.word(1));
    case SYS_chown:
      return with_owner(change_of(BrokerFileCall::kChangeOwner, name), args.word(1), args.word(2));
    case SYS_lchown:
      return with_owner(change_of(BrokerFileCall::kChangeOwner, name, AT_SYMLINK_NOFOLLOW),
                        args.word(1), args.word(2));
    case SYS_utime:
      return with_times(change_of(BrokerFileCall::kChangeTimes, name), TimesForm::kSeconds,
                        args.whole(1));
    case SYS_utimes:
      return with_times(change_of(BrokerFileCall::kChangeTimes, name), TimesForm::kTimevals,
                        args.whole(1));
    case SYS_futimesat:
      return times_request(args, TimesForm::kTimevals, 0);
#endif
    case SYS_setxattr:
      return with_attribute(change_of(BrokerFileCall::kSetAttribute, name), args, 1);
    case SYS_lsetxattr:
      return with_attribute(change_of(BrokerFileCall::kSetAttribute, name, AT_SYMLINK_NOFOLLOW),
                            args, 1);
    case SYS_removexattr:
      return with_attribute(change_of(BrokerFileCall::kRemoveAttribute, name), args, 1);
    case SYS_lremovexattr:
      return with_attribute(change_of(BrokerFileCall::kRemoveAttribute, name, AT_SYMLINK_NOFOLLOW),
                            args, 1);
    default:
      return read_at_form(data);
  }
}

}  // namespace

const std::vector<std::int32_t>& attribute_calls() {
  static const std::vector<std::int32_t> calls = {
#if defined(SYS_chmod)
    SYS_chmod,
    SYS_chown,
    SYS_lchown,
    SYS_utime,
    SYS_utimes,
    SYS_futimesat,
#endif
    SYS_fchmod,
    SYS_fchmodat,
    kFchmodat2,
    SYS_fchown,
    SYS_fchownat,
    SYS_utimensat,
    SYS_setxattr,
    SYS_lsetxattr,
    SYS_fsetxattr,
    kSetxattrat,
    SYS_removexattr,
    SYS_lremovexattr,
    SYS_fremovexattr,
    kRemovexattrat,
    kFileSetattr,
    SYS_ioctl,
  };
  return calls;
}

std::optional<Result<FileRequest>> read_attribute_request(const seccomp_data& data) {
  return read_name_form(data);
}

}  // namespace aasm::backend_native
