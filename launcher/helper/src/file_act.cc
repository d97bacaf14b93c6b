#include "file_act.h"

#include <linux/fcntl.h>
#include <linux/openat2.h>
#include <linux/stat.h>

#include "file_attributes.h"

namespace aasm::helper {

namespace {

using wire::BrokerFileCall;

constexpr uint64_t kMemoryDevices = 1;  // major number of null, zero, full, random

bool is_call(const wire::BrokerFile& file, BrokerFileCall call) {
  return file.call == static_cast<uint32_t>(call);
}

// Whether opening it may take its time: pipes, terminals, disks. A file's lease says EAGAIN.
bool may_hold_up(const wire::BrokerPlace& found) {
  const uint32_t type = found.mode & kTypeMask;
  const bool memory = type == kTypeCharacters && found.special >> 8 == kMemoryDevices;
  return type != kTypeFile && type != kTypeDirectory && type != kTypeLink && !memory;
}

// Where and how an open is made.
struct Opening {
  int directory;
  const char* name;
  uint64_t flags;
  uint64_t resolve;
};

// What open(2) ignores openat2(2) refuses.
constexpr uint64_t kKnownFlags = O_ACCMODE | O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC | O_APPEND |
                                 O_NONBLOCK | O_SYNC | FASYNC | O_DIRECT | O_LARGEFILE |
                                 O_DIRECTORY | O_NOFOLLOW | O_NOATIME | O_CLOEXEC | O_PATH |
                                 __O_TMPFILE;
constexpr uint64_t kKnownMode = 07777;

long open_as(const wire::BrokerFile& file, const Opening& opening) {
  const bool reference = (file.flags & O_PATH) != 0;
  struct open_how how = {};
  how.flags = opening.flags | O_CLOEXEC | (reference ? 0U : O_NOCTTY);
  how.resolve = opening.resolve;
  if (is_call(file, BrokerFileCall::kOpen)) {
    how.flags &= kKnownFlags;
  }
  if ((how.flags & (O_CREAT | __O_TMPFILE)) != 0) {
    how.mode = is_call(file, BrokerFileCall::kOpen) ? file.mode & kKnownMode : file.mode;
  }
  return raw_call(__NR_openat2, opening.directory, address(opening.name), address(&how),
                  sizeof(how));
}

long open_without_waiting(const wire::BrokerFile& file, Opening opening) {
  constexpr int kSetFlags = 4;
  const bool adds = (file.flags & (O_NONBLOCK | O_PATH)) == 0;
  opening.flags |= adds ? O_NONBLOCK : 0U;
  const long fd = open_as(file, opening);
  if (adds && fd == -kEagain) {
    return kMustWait;
  }
  if (adds && fd >= 0) {
    raw_call(__NR_fcntl, fd, kSetFlags, static_cast<long>(file.flags));
  }
  return fd;
}

long act_open(const wire::BrokerFile& file, FilePlaces& places, bool may_wait) {
  const Place& place = places.first;
  wire::BrokerPlace found = place.found;
  if (places.target >= 0) {
    look_at(places.target, "", AT_EMPTY_PATH, found);
    if (creates_first(file) && (found.mode & kTypeMask) == kTypeDirectory) {
      return -kEisdir;
    }
  }
  const Text link = own_link(places.target);
  Opening opening = {place.parent, place.last, file.flags, 0};
  if (places.target >= 0) {
    opening = {AT_FDCWD, link.bytes, file.flags & ~static_cast<uint64_t>(O_CREAT | O_EXCL), 0};
    if ((file.flags & __O_TMPFILE) != 0) {
      opening.flags |= file.flags & O_EXCL;
    }
    opening.flags &= ~static_cast<uint64_t>(O_NOFOLLOW);
  } else {
    const bool judged_as_new = file.turn == static_cast<uint32_t>(wire::BrokerTurn::kAct);
    opening.flags |= judged_as_new ? O_EXCL : 0U;
    // ELOOP, as by O_NOFOLLOW, without a trace in what is opened; a reference to a link is one.
    opening.resolve = (file.flags & O_PATH) != 0 ? 0U : RESOLVE_NO_SYMLINKS;
    opening.flags |= (file.flags & O_PATH) != 0 ? O_NOFOLLOW : 0U;
  }
  if (!may_wait && may_hold_up(found) && found.mode != 0 && (file.flags & O_PATH) == 0) {
    return kMustWait;
  }
  const long fd = may_wait ? open_as(file, opening) : open_without_waiting(file, opening);
  if (fd >= 0) {
    places.opened = static_cast<int>(fd);
  }
  return fd < 0 ? fd : 0;
}

long size_of(int fd, uint64_t* size) {
  struct statx status = {};
  const long result =
      raw_call(__NR_statx, fd, address(""), AT_EMPTY_PATH, STATX_SIZE, address(&status));
  *size = status.stx_size;
  return result;
}

// The limit on the size of files is the caller's, not ours.
long act_truncate(const wire::BrokerFile& file, FilePlaces& places) {
  long result = places.target < 0 ? open_target(places) : 0;
  uint64_t size = 0;
  if (result >= 0) {
    result = size_of(places.target, &size);
  }
  if (result < 0) {
    return result;
  }
  if (file.value > size && file.value > file.limit) {
    return -kEfbig;
  }
  return raw_call(__NR_truncate, address(own_link(places.target).bytes),
                  static_cast<long>(file.value));
}

long act_link(const wire::BrokerFile& file, FilePlaces& places) {
  const Place& first = places.first;
  const Place& second = places.second;
  const bool by_descriptor = places.target >= 0 || follows_first(file);
  if (!by_descriptor) {
    return raw_call(__NR_linkat, first.parent, address(first.last), second.parent,
                    address(second.last), 0);
  }
  const long result = places.target < 0 ? open_target(places) : 0;
  if (result < 0) {
    return result;
  }
  return raw_call(__NR_linkat, AT_FDCWD, address(own_link(places.target).bytes), second.parent,
                  address(second.last), AT_SYMLINK_FOLLOW);
}

}  // namespace

bool creates_first(const wire::BrokerFile& file) {
  const bool opens =
      is_call(file, BrokerFileCall::kOpen) || is_call(file, BrokerFileCall::kOpenHow);
  return opens && (file.flags & O_CREAT) != 0 && (file.flags & O_PATH) == 0;
}

bool follows_first(const wire::BrokerFile& file) {
  switch (static_cast<BrokerFileCall>(file.call)) {
    case BrokerFileCall::kOpen:
    case BrokerFileCall::kOpenHow:
      return (file.flags & O_NOFOLLOW) == 0 && !(creates_first(file) && (file.flags & O_EXCL) != 0);
    case BrokerFileCall::kTruncate:
      return true;
    case BrokerFileCall::kLink:
      return (file.how & AT_SYMLINK_FOLLOW) != 0;
    case BrokerFileCall::kExecute:
    case BrokerFileCall::kChangeMode:
    case BrokerFileCall::kChangeOwner:
    case BrokerFileCall::kChangeTimes:
    case BrokerFileCall::kSetAttribute:
    case BrokerFileCall::kRemoveAttribute:
    case BrokerFileCall::kSetFlags:
    case BrokerFileCall::kControl:
      return (file.how & AT_SYMLINK_NOFOLLOW) == 0;
    case BrokerFileCall::kUnlink:
    case BrokerFileCall::kMakeDirectory:
    case BrokerFileCall::kMakeNode:
    case BrokerFileCall::kMakeSymlink:
    case BrokerFileCall::kRename:
      return false;
  }
  return false;
}

Text own_link(int fd) {
  Text link = {};
  link.add("/proc/self/fd/");
  link.add_number(fd < 0 ? 0 : fd);
  return link;
}

long open_target(FilePlaces& places) {
  const Place& place = places.first;
  const long flags = O_PATH | O_CLOEXEC | (place.through_link ? 0 : O_NOFOLLOW);
  const long fd = raw_call(__NR_openat, place.parent, address(place.last), flags, 0);
  if (fd < 0) {
    return fd;
  }
  places.target = static_cast<int>(fd);
  // What is on proc goes by its own name (file_walk.h): this one has been changed.
  return place.through_link && on_proc(places.target) ? -kEacces : 0;
}

long check_how(const wire::BrokerFile& file) {
  if (is_call(file, BrokerFileCall::kOpen) &&
      file.turn == static_cast<uint32_t>(wire::BrokerTurn::kResolve)) {
    const long result = raw_call(__NR_openat, -1, address(""), static_cast<long>(file.flags),
                                 static_cast<long>(file.mode));
    return result == -kEinval ? result : 0;
  }
  if (!is_call(file, BrokerFileCall::kOpenHow)) {
    return 0;
  }
  struct open_how how = {};
  how.flags = file.flags;
  how.mode = file.mode;
  how.resolve = file.resolve;
  const long result = raw_call(__NR_openat2, -1, address(""), address(&how), sizeof(how));
  return result == -kEinval ? result : 0;
}

long act(const wire::BrokerFile& file, const char* second_name, FilePlaces& places, bool may_wait) {
  const Place& first = places.first;
  const Place& second = places.second;
  const auto mode = static_cast<long>(file.mode);
  switch (static_cast<BrokerFileCall>(file.call)) {
    case BrokerFileCall::kOpen:
    case BrokerFileCall::kOpenHow:
      return act_open(file, places, may_wait);
    case BrokerFileCall::kTruncate:
      return act_truncate(file, places);
    case BrokerFileCall::kUnlink:
      return raw_call(__NR_unlinkat, first.parent, address(first.last), file.how);
    case BrokerFileCall::kMakeDirectory:
      return raw_call(__NR_mkdirat, first.parent, address(first.last), mode);
    case BrokerFileCall::kMakeNode:
      return raw_call(__NR_mknodat, first.parent, address(first.last), mode,
                      static_cast<long>(file.value));
    case BrokerFileCall::kMakeSymlink:
      return raw_call(__NR_symlinkat, address(second_name), first.parent, address(first.last));
    case BrokerFileCall::kRename:
      return raw_call(__NR_renameat2, first.parent, address(first.last), second.parent,
                      address(second.last), file.how);
    case BrokerFileCall::kLink:
      return act_link(file, places);
    case BrokerFileCall::kExecute:
      return act_execute(places, may_wait);
    case BrokerFileCall::kChangeMode:
    case BrokerFileCall::kChangeOwner:
    case BrokerFileCall::kChangeTimes:
    case BrokerFileCall::kSetAttribute:
    case BrokerFileCall::kRemoveAttribute:
    case BrokerFileCall::kSetFlags:
    case BrokerFileCall::kControl:
      return change_attributes(file, second_name, places.target);
  }
  return -kEinval;
}

}  // namespace aasm::helper
