#include "file_attributes.h"

#include <linux/fcntl.h>

#include "file_act.h"
#include "sys.h"
#include "text.h"

namespace aasm::helper {

namespace {

using wire::BrokerFileCall;

constexpr long kFileSetattr = 469;  // Linux 6.17, the same everywhere

// How the call names its file: by the descriptor itself, or by the link of proc(5) to what that
// refers to, which a reference and a symbolic link have too.
struct Target {
  int fd;
  bool itself;
  long link;  // the address of its name
};

long set_attribute(const wire::BrokerFile& file, const char* payload, const Target& target) {
  const size_t name_size = length_of(payload) + 1;
  if (name_size > file.second_size) {
    return -kEinval;
  }
  const char* value = payload + name_size;
  const auto size = static_cast<long>(file.second_size - name_size);
  const auto flags = static_cast<long>(file.flags);
  return target.itself
             ? raw_call(__NR_fsetxattr, target.fd, address(payload), address(value), size, flags)
             : raw_call(__NR_setxattr, target.link, address(payload), address(value), size, flags);
}

long change_owner(const wire::BrokerFile& file, const Target& target) {
  const auto user = static_cast<long>(file.mode);
  const auto group = static_cast<long>(file.value);
  return target.itself ? raw_call(__NR_fchown, target.fd, user, group)
                       : raw_call(__NR_fchownat, AT_FDCWD, target.link, user, group, 0);
}

long change_mode(const wire::BrokerFile& file, const Target& target) {
  const auto mode = static_cast<long>(file.mode);
  return target.itself ? raw_call(__NR_fchmod, target.fd, mode)
                       : raw_call(__NR_fchmodat, AT_FDCWD, target.link, mode);
}

}  // namespace

long change_attributes(const wire::BrokerFile& file, const char* payload, int target_fd) {
  if (target_fd < 0) {
    return -kEnoent;
  }
  const Text text = own_link(target_fd);
  const Target target = {target_fd, (file.how & wire::kHowDescriptor) != 0, address(text.bytes)};
  switch (static_cast<BrokerFileCall>(file.call)) {
    case BrokerFileCall::kChangeMode:
      return change_mode(file, target);
    case BrokerFileCall::kChangeOwner:
      return change_owner(file, target);
    case BrokerFileCall::kChangeTimes:
      return raw_call(__NR_utimensat, target.itself ? target.fd : AT_FDCWD,
                      target.itself ? 0 : target.link, file.second_size == 0 ? 0 : address(payload),
                      0);
    case BrokerFileCall::kSetAttribute:
      return set_attribute(file, payload, target);
    case BrokerFileCall::kRemoveAttribute:
      return target.itself ? raw_call(__NR_fremovexattr, target.fd, address(payload))
                           : raw_call(__NR_removexattr, target.link, address(payload));
    case BrokerFileCall::kSetFlags:
      return raw_call(kFileSetattr, AT_FDCWD, target.link, address(payload),
                      static_cast<long>(file.second_size), 0);
    case BrokerFileCall::kControl:
      return raw_call(__NR_ioctl, target.fd, static_cast<long>(file.value), address(payload));
    case BrokerFileCall::kOpen:
    case BrokerFileCall::kOpenHow:
    case BrokerFileCall::kTruncate:
    case BrokerFileCall::kUnlink:
    case BrokerFileCall::kMakeDirectory:
    case BrokerFileCall::kMakeNode:
    case BrokerFileCall::kMakeSymlink:
    case BrokerFileCall::kRename:
    case BrokerFileCall::kLink:
      break;
  }
  return -kEinval;
}

}  // namespace aasm::helper
