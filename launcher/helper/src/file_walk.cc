#include "file_walk.h"

#include <linux/fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <linux/stat.h>

#include "text.h"

namespace aasm::helper {

namespace {

constexpr uint64_t kProcRootInode = 1;

bool is_link(const wire::BrokerPlace& found) {
  return (found.mode & kTypeMask) == kTypeLink;
}

bool same(const char* left, const char* right) {
  while (*left != '\0' && *left == *right) {
    ++left;
    ++right;
  }
  return *left == *right;
}

bool is_dots(const char* name) {
  return same(name, ".") || same(name, "..");
}

long open_how(int directory, const char* name, uint64_t flags, uint64_t resolve) {
  struct open_how how = {};
  how.flags = flags | O_PATH | O_CLOEXEC;
  how.resolve = resolve;
  return raw_call(__NR_openat2, directory, address(name), address(&how), sizeof(how));
}

void move_bytes(char* to, const char* from, size_t size) {
  for (size_t i = 0; i < size; ++i) {
    const size_t at = to > from ? size - 1 - i : i;
    to[at] = from[at];
  }
}

// Puts `head`, a slash and `tail`, which may stand in `to` already, into `to`. False: too long.
bool join(char* to, const char* head, size_t head_size, const char* tail) {
  const size_t tail_size = length_of(tail);
  if (head_size + 1 + tail_size >= kMaxWalk) {
    return false;
  }
  const size_t at = head_size + (tail_size == 0 ? 0 : 1);
  move_bytes(to + at, tail, tail_size);
  to[at + tail_size] = '\0';
  for (size_t i = 0; i < head_size; ++i) {
    to[i] = head[i];
  }
  if (tail_size != 0) {
    to[head_size] = '/';
  }
  return true;
}

// The text of the link `name` in `directory`, as the caller would read it; 0: only the kernel can
// follow it. Else a size or a negative errno. Holds `kMaxName` bytes.
long read_link(const Reading& reading, int directory, const char* name, char* text) {
  if (on_proc(directory)) {
    wire::BrokerPlace root = {};
    const bool at_root =
        look_at(directory, "", AT_EMPTY_PATH, root) >= 0 && root.inode == kProcRootInode;
    const bool own_thread = same(name, "thread-self");
    if (at_root && (own_thread || same(name, "self"))) {
      Text path = {};
      path.add_number(reading.process);
      if (own_thread) {
        path.add("/task/");
        path.add_number(reading.thread);
      }
      for (uint32_t i = 0; i < path.size; ++i) {
        text[i] = path.bytes[i];
      }
      return static_cast<long>(path.size);
    }
    const long plain = open_how(directory, name, 0, RESOLVE_NO_MAGICLINKS);
    if (plain == -kEloop) {
      return 0;
    }
    if (plain >= 0) {
      close_fd(static_cast<int>(plain));
    }
  }
  return raw_call(__NR_readlinkat, directory, address(name), address(text), kMaxName - 1);
}

// Whether a directory of a proc(5) filesystem is about this process: what we may do to ourselves
// nobody may have us do. The caller could not: our domain is outside its own.
bool is_ours(int directory) {
  constexpr int kDeepest = 8;
  Text task = {};
  task.add("task/");
  task.add_number(own_pid());
  bool ours = false;
  long at = open_how(directory, ".", O_DIRECTORY, 0);
  for (int i = 0; at >= 0 && !ours; ++i) {
    wire::BrokerPlace found = {};
    const int fd = static_cast<int>(at);
    if (look_at(fd, "", AT_EMPTY_PATH, found) >= 0 && found.inode == kProcRootInode) {
      break;
    }
    ours = i == kDeepest || look_at(fd, task.bytes, 0, found) >= 0;
    at = open_how(fd, "..", O_DIRECTORY, 0);
    close_fd(fd);
  }
  if (at >= 0) {
    close_fd(static_cast<int>(at));
  }
  return ours || at < 0;
}

// Where a walk is. Owns `fd` once it has moved.
struct Position {
  int fd;
  bool owned;

  void move(long to) {
    if (owned) {
      close_fd(fd);
    }
    fd = static_cast<int>(to);
    owned = true;
  }
};

// Along a link that only the kernel can follow.
long jump(Position& at, const char* name) {
  if (is_ours(at.fd)) {
    return -kEacces;
  }
  const long jumped = open_how(at.fd, name, 0, 0);
  if (jumped >= 0) {
    at.move(jumped);
  }
  return jumped;
}

// One component of a walk by components; what is left of the name stays in text.ahead.
long step(const Reading& reading, Position& at, const char* name, const char* left, uint32_t& links,
          WalkText& text) {
  const long next = open_how(at.fd, name, O_NOFOLLOW, 0);
  if (next < 0) {
    return next;
  }
  wire::BrokerPlace found = {};
  long result = look_at(static_cast<int>(next), "", AT_EMPTY_PATH, found);
  if (result < 0 || !is_link(found)) {
    at.move(next);
    return join(text.ahead, left, 0, left) ? result : -kEnametoolong;
  }
  close_fd(static_cast<int>(next));
  if (++links > wire::kMaxBrokerLinks) {
    return -kEloop;
  }
  char target[kMaxName];
  result = read_link(reading, at.fd, name, target);
  if (result < 0) {
    return result;
  }
  if (result == 0) {
    result = jump(at, name);
    return result >= 0 && !join(text.ahead, left, 0, left) ? -kEnametoolong : result;
  }
  if (target[0] == '/') {
    const long root = open_how(AT_FDCWD, "/", 0, 0);
    if (root < 0) {
      return root;
    }
    at.move(root);
  }
  return join(text.ahead, target, static_cast<size_t>(result), left) ? 0 : -kEnametoolong;
}

// Cuts the first component off `name`. Its size; 0: there is none left; or a negative errno.
long cut_component(const char*& name, char (&component)[256]) {
  while (*name == '/') {
    ++name;
  }
  size_t size = 0;
  for (; name[size] != '\0' && name[size] != '/'; ++size) {
    if (size == sizeof(component) - 1) {
      return -kEnametoolong;
    }
    component[size] = name[size];
  }
  component[size] = '\0';
  name += size;
  return static_cast<long>(size);
}

// The directory that text.ahead names, component by component.
long walk_by_components(const Reading& reading, int start, uint32_t& links, WalkText& text) {
  Position at = {start, false};
  if (text.ahead[0] == '/') {
    const long root = open_how(AT_FDCWD, "/", 0, 0);
    if (root < 0) {
      return root;
    }
    at.move(root);
  }
  char component[256];
  long result = 0;
  do {
    const char* name = text.ahead;
    result = cut_component(name, component);
    if (result > 0) {
      const long stepped = step(reading, at, component, name, links, text);
      result = stepped < 0 ? stepped : 1;
    }
  } while (result > 0);
  if (result == 0) {
    result = open_how(at.fd, ".", O_DIRECTORY, 0);
  }
  if (at.owned) {
    close_fd(at.fd);
  }
  return result;
}

// The directory that the first `size` bytes of text.rest name.
long open_directory(const Reading& reading, int start, size_t size, uint32_t& links,
                    WalkText& text) {
  for (size_t i = 0; i < size; ++i) {
    text.ahead[i] = text.rest[i];
  }
  text.ahead[size] = '\0';
  const char* name = size == 0 ? "." : text.ahead;
  const long fd = open_how(start, name, O_DIRECTORY, RESOLVE_NO_MAGICLINKS);
  if (fd >= 0 && !on_proc(static_cast<int>(fd))) {
    return fd;
  }
  // On the way, too, "self" may have been us.
  if (fd >= 0) {
    close_fd(static_cast<int>(fd));
  }
  if (size == 0) {
    text.ahead[0] = '.';
    text.ahead[1] = '\0';
  }
  const long found = walk_by_components(reading, start, links, text);
  if (found >= 0 && on_proc(static_cast<int>(found)) && is_ours(static_cast<int>(found))) {
    close_fd(static_cast<int>(found));
    return -kEacces;
  }
  return found;
}

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
    return result;
  }
}

}  // namespace aasm::helper
