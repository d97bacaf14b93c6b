#include "descendants.h"

#include <linux/fcntl.h>

#include "text.h"

namespace aasm::helper {

namespace {

constexpr int kOpenFlags = O_RDONLY | O_CLOEXEC;
constexpr uint32_t kMaxListed = 65536;  // of one round; who is not listed is found in the next

// Descendants of this round. A queue: the children of listed[i] are appended while i goes on.
int32_t listed[kMaxListed];
uint32_t num_listed;

// Reads "12 345 " to the end and appends the numbers. A number may be cut by the buffer's end.
long list_children(int fd) {
  char buffer[1024];
  int32_t number = 0;
  for (;;) {
    const long size = read_fd(fd, buffer, sizeof(buffer));
    if (size <= 0) {
      return size;
    }
    for (long i = 0; i < size; ++i) {
      if (buffer[i] >= '0' && buffer[i] <= '9') {
        number = number * 10 + (buffer[i] - '0');
      } else if (number != 0) {
        if (num_listed < kMaxListed) {
          listed[num_listed++] = number;
        }
        number = 0;
      }
    }
  }
}

// Appends the children of one thread, named as a directory below `task_fd`.
void list_children_of_thread(int task_fd, const char* thread) {
  Text path = {};
  path.add(thread);
  path.add("/children");
  const long fd = open_below(task_fd, path.bytes, kOpenFlags);
  if (fd >= 0) {
    list_children(static_cast<int>(fd));
    close_fd(static_cast<int>(fd));
  }
}

// Appends the children of all threads of `pid`; nothing when it is gone or unreadable.
void list_children_of(int proc_fd, int32_t pid) {
  Text path = {};
  path.add_number(pid);
  path.add("/task");
  const long fd = open_below(proc_fd, path.bytes, kOpenFlags | O_DIRECTORY);
  if (fd < 0) {
    return;
  }
  const int task_fd = static_cast<int>(fd);
  alignas(8) char buffer[2048];
  for (;;) {
    const long size =
        raw_call(__NR_getdents64, task_fd, address(buffer), static_cast<long>(sizeof(buffer)));
    if (size <= 0) {
      break;
    }
    // struct linux_dirent64: inode 8, offset 8, record length 2, type 1, name.
    for (long at = 0; at < size;) {
      const char* entry = buffer + at;
      if (entry[19] != '.') {
        list_children_of_thread(task_fd, entry + 19);
      }
      // SAFETY: records are aligned to eight and the length stands at offset 16.
      at += *reinterpret_cast<const uint16_t*>(entry + 16);
    }
  }
  close_fd(task_fd);
}

}  // namespace

long open_process_list(int& proc_fd, int& children_fd) {
  long result = open_below(AT_FDCWD, "/proc", kOpenFlags | O_DIRECTORY);
  if (result < 0) {
    return result;
  }
  proc_fd = static_cast<int>(result);
  Text own = {};
  own.add_number(own_pid());
  Text link = {};
  result = raw_call(__NR_readlinkat, proc_fd, address("self"), address(link.bytes), kTextSize - 1);
  if (result < 0) {
    return result;
  }
  for (uint32_t i = 0; i <= own.size; ++i) {
    if (own.bytes[i] != link.bytes[i]) {
      return -kEstale;
    }
  }
  Text path = {};
  path.add("self/task/");
  path.add(own.bytes);
  path.add("/children");
  result = open_below(proc_fd, path.bytes, kOpenFlags);
  children_fd = static_cast<int>(result);
  return result < 0 ? result : 0;
}

long kill_descendants(int proc_fd, int children_fd, int32_t last) {
  constexpr int kSeekSet = 0;
  constexpr int kSigkill = 9;
  num_listed = 0;
  file_end(children_fd, 0, kSeekSet);
  const long result = list_children(children_fd);
  for (uint32_t i = 0; i < num_listed; ++i) {
    list_children_of(proc_fd, listed[i]);
    if (listed[i] != last || num_listed == 1) {
      raw_call(__NR_kill, listed[i], kSigkill);
    }
  }
  return result;
}

void sort_ascending(int32_t* list, uint32_t count) {
  for (uint32_t i = 1; i < count; ++i) {
    for (uint32_t k = i; k > 0 && list[k - 1] > list[k]; --k) {
      const int32_t larger = list[k - 1];
      list[k - 1] = list[k];
      list[k] = larger;
    }
  }
}

}  // namespace aasm::helper
