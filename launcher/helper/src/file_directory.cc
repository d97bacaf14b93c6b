#include "file_directory.h"

#include <linux/fcntl.h>
#include <linux/openat2.h>

#include "text.h"

namespace aasm::helper {

namespace {

bool same(const char* left, const char* right) {
  while (*left != '\0' && *left == *right) {
    ++left;
    ++right;
  }
  return *left == *right;
}

void move_bytes(char* to, const char* from, size_t size) {
  for (size_t i = 0; i < size; ++i) {
    const size_t at = to > from ? size - 1 - i : i;
    to[at] = from[at];
  }
}

bool has_task(int directory, uint32_t process) {
  Text task = {};
  task.add("task/");
  task.add_number(process);
  wire::BrokerPlace found = {};
  return look_at(directory, task.bytes, 0, found) >= 0;
}

// Whether a directory of a proc(5) filesystem is about this process, or one that the call is to
// leave alone: what we may do to ourselves, or the user to those, nobody may have us do.
bool is_ours(const Reading& reading, int directory) {
  constexpr int kDeepest = 8;
  bool ours = false;
  long at = open_how(directory, ".", O_DIRECTORY, 0);
  for (int i = 0; at >= 0 && !ours; ++i) {
    wire::BrokerPlace found = {};
    const int fd = static_cast<int>(at);
    if (look_at(fd, "", AT_EMPTY_PATH, found) >= 0 && found.inode == kProcRootInode) {
      break;
    }
    ours = i == kDeepest || has_task(fd, static_cast<uint32_t>(own_pid()));
    for (uint32_t k = 0; reading.own != nullptr && k < kNumOwn; ++k) {
      ours = ours || has_task(fd, reading.own[k]);
    }
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
long jump(const Reading& reading, Position& at, const char* name, WalkText& text) {
  if (is_ours(reading, at.fd)) {
    return kOurs;
  }
  const long jumped = open_how(at.fd, name, 0, 0);
  if (jumped >= 0) {
    at.move(jumped);
    text.jumped = true;
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
    result = jump(reading, at, name, text);
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

}  // namespace

bool is_link(const wire::BrokerPlace& found) {
  return (found.mode & kTypeMask) == kTypeLink;
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
  if (found >= 0 && on_proc(static_cast<int>(found)) && is_ours(reading, static_cast<int>(found))) {
    close_fd(static_cast<int>(found));
    return kOurs;
  }
  return found;
}

}  // namespace aasm::helper
