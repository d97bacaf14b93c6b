#include "file_walk.h"

#include <linux/fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <linux/stat.h>

#include "file_directory.h"
#include "text.h"

namespace aasm::helper {

namespace {

// Where the last component of `name` begins; its length: all of it is the directory.
size_t last_component(const char* name, const Reading& reading) {
  const size_t size = length_of(name);
  size_t end = size;
  while (end > 0 && name[end - 1] == '/') {
    --end;
  }
  size_t begin = end;
  while (begin > 0 && name[begin - 1] != '/') {
    --begin;
  }
  const bool directory =
      reading.follow && !reading.creates && (end < size || is_dots(name + begin));
  return end == 0 || directory ? size : begin;
}

// Slashes behind the name mean what one of them means.
long keep_last(const char* last, const Reading& reading, Place& place) {
  if (*last == '\0') {
    last = reading.follow ? "." : "/";  // all of it is the directory, or the root
  }
  size_t size = 0;
  for (; last[size] != '\0' && (size == 0 || last[size - 1] != '/'); ++size) {
    if (size == sizeof(place.last) - 1) {
      return -kEnametoolong;
    }
    place.last[size] = last[size];
  }
  place.last[size] = '\0';
  return 0;
}

// Of a link that only the kernel can follow: the path of what it leads to, where that is on proc
// itself, so that it is looked up like any other name there; 0 where it is not.
long path_on_proc(const Place& place, char* text) {
  const long target = open_how(place.parent, place.last, 0, 0);
  if (target < 0) {
    return target;
  }
  const int fd = static_cast<int>(target);
  long size = 0;
  if (on_proc(fd)) {
    Text link = {};
    link.add("/proc/self/fd/");
    link.add_number(fd);
    size = raw_call(__NR_readlinkat, AT_FDCWD, address(link.bytes), address(text), kMaxName - 1);
  }
  close_fd(fd);
  return size > 0 && text[0] != '/' ? -kEacces : size;
}

// Goes on at what the link in the last place says. 0: `place` is where the name leads; 1: text.rest
// is to be looked up from `start`, which has become the link's directory.
long follow_last(const Reading& reading, Place& place, uint32_t& links, WalkText& text) {
  if (++links > wire::kMaxBrokerLinks) {
    return -kEloop;
  }
  // Whether a link may be followed at all is the kernel's to say (fs.protected_symlinks).
  const long may = open_how(place.parent, place.last, 0, RESOLVE_NO_MAGICLINKS);
  if (may >= 0) {
    close_fd(static_cast<int>(may));
  } else if (may == -kEacces) {
    return may;
  }
  long size = read_link(reading, place.parent, place.last, text.ahead);
  if (size == 0) {
    size = path_on_proc(place, text.ahead);
  }
  if (size <= 0) {
    place.through_link = size == 0;
    return size;
  }
  text.ahead[size] = '\0';
  return join(text.rest, text.ahead, static_cast<size_t>(size), "") ? 1 : -kEnametoolong;
}

// One round: the directory, and what stands in it under the last component.
long look_up(const Reading& reading, int start, uint32_t& links, WalkText& text, Place& place) {
  const size_t begin = last_component(text.rest, reading);
  const long parent = open_directory(reading, start, begin, links, text);
  if (parent < 0) {
    return parent;
  }
  place.parent = static_cast<int>(parent);
  const long kept = keep_last(text.rest + begin, reading, place);
  if (kept < 0 || !reading.follow) {
    return kept;
  }
  const long looked = look_at(place.parent, place.last, AT_SYMLINK_NOFOLLOW, place.found);
  place.looked_at = looked >= 0 || looked == -kEnoent;
  place.exists = looked >= 0;
  return place.exists && is_link(place.found) ? follow_last(reading, place, links, text) : 0;
}

}  // namespace

long look_at(int directory, const char* name, int flags, wire::BrokerPlace& found) {
  struct statx status = {};
  const long result = raw_call(__NR_statx, directory, address(name), flags,
                               STATX_TYPE | STATX_MODE | STATX_INO | STATX_NLINK, address(&status));
  if (result >= 0) {
    found.device = device_number(status.stx_dev_major, status.stx_dev_minor);
    found.special = device_number(status.stx_rdev_major, status.stx_rdev_minor);
    found.inode = status.stx_ino;
    found.mode = status.stx_mode;
    found.flags = status.stx_nlink == 0 ? wire::kPlaceRemoved : 0;
  }
  return result;
}

bool ends_as_directory(const char* name) {
  const size_t size = length_of(name);
  size_t begin = size;
  while (begin > 0 && name[begin - 1] != '/') {
    --begin;
  }
  return size > 0 && (begin == size || is_dots(name + begin));
}

bool on_proc(int fd) {
  long filesystem[16] = {};  // struct statfs, which begins with f_type
  return raw_call(__NR_fstatfs, fd, address(filesystem)) >= 0 && filesystem[0] == PROC_SUPER_MAGIC;
}

long find_place(const Reading& reading, const char* name, WalkText& text, Place& place) {
  if (*name == '\0') {
    return -kEnoent;
  }
  if (!join(text.rest, name, length_of(name), "")) {
    return -kEnametoolong;
  }
  text.jumped = false;
  uint32_t links = 0;
  int start = reading.start;
  for (;;) {
    place = Place{};
    const long result = look_up(reading, start, links, text, place);
    if (start != reading.start) {
      close_fd(start);
    }
    if (result == 1) {
      start = place.parent;
      continue;
    }
    if (result < 0 && place.parent >= 0) {
      close_fd(place.parent);
      place = Place{};
    }
    place.beyond_process = text.jumped;
    return result;
  }
}

}  // namespace aasm::helper
