// launch_probe MODE ARGS...: the program that launch tests start.
//   exit ... N       ends with status N
//   signal N         dies of signal N
//   dump FD          writes what it was given to FD, as probe_dump.h reads it
//   spin MS          uses so much processor time
//   sleepers N FD    starts N processes that leave session and parent, writes their pids and ends
//   stay N FD        the same, and stays
//   hop N FD         N processes that fork and leave the rest to their child, without pause
// Under any other mode it writes its arguments to standard output: an interpreter for scripts.

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <string>

namespace {

std::string hex(const std::string& bytes) {
  std::string text;
  for (const char c : bytes) {
    std::array<char, 3> digits{};
    std::snprintf(digits.data(), digits.size(), "%02x", static_cast<unsigned char>(c));
    text += digits.data();
  }
  return text;
}

bool write_all(int fd, const std::string& text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const ssize_t size = write(fd, text.data() + at, text.size() - at);
    if (size <= 0) {
      return false;
    }
    at += static_cast<std::size_t>(size);
  }
  return true;
}

// Numbers of the open descriptors, without the one that reads the directory.
std::string open_descriptors() {
  std::string text;
  DIR* directory = opendir("/proc/self/fd");
  if (directory == nullptr) {
    return text;
  }
  while (const dirent* entry = readdir(directory)) {
    const std::string name(static_cast<const char*>(entry->d_name));
    if (name.front() != '.' && std::atoi(name.c_str()) != dirfd(directory)) {
      text += "fd " + name + "\n";
    }
  }
  closedir(directory);
  return text;
}

int dump(int argc, char** argv, char** envp) {
  std::string text;
  for (int i = 0; i < argc; ++i) {
    text += "arg " + hex(argv[i]) + "\n";
  }
  for (; *envp != nullptr; ++envp) {
    text += "env " + hex(*envp) + "\n";
  }
  text += open_descriptors();
  std::array<char, 4096> cwd{};
  if (getcwd(cwd.data(), cwd.size()) != nullptr) {
    text += "cwd " + hex(cwd.data()) + "\n";
  }
  rlimit files = {};
  getrlimit(RLIMIT_NOFILE, &files);
  text += "nofile " + std::to_string(files.rlim_cur) + "\n";
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    text += "status " + line + "\n";
  }
  return write_all(std::atoi(argv[2]), text) ? 0 : 1;
}

// Leaves session, process group and parent, as a daemon does.
void start_sleeper(int fd) {
  const pid_t pid = fork();
  if (pid != 0) {
    return;
  }
  setsid();
  if (fork() != 0) {
    _exit(0);
  }
  write_all(fd, std::to_string(getpid()) + "\n");
  close(fd);
  for (;;) {
    pause();
  }
}

int start_sleepers(int count, int fd, bool stay) {
  for (int i = 0; i < count; ++i) {
    start_sleeper(fd);
  }
  close(fd);
  while (stay) {
    pause();
  }
  return 0;
}

// Nobody stays under one pid for longer than it takes to fork.
[[noreturn]] void hop() {
  for (;;) {
    if (fork() > 0) {
      _exit(0);
    }
  }
}

int start_hoppers(int count, int fd) {
  for (int i = 0; i < count; ++i) {
    if (fork() == 0) {
      hop();
    }
  }
  return write_all(fd, "up\n") ? 0 : 1;
}

int spin(int ms) {
  const std::clock_t end = std::clock() + static_cast<std::clock_t>(ms) * (CLOCKS_PER_SEC / 1000);
  while (std::clock() < end) {
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv, char** envp) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "exit" && argc >= 3) {
    return std::atoi(argv[argc - 1]);
  }
  if (mode == "signal" && argc == 3) {
    raise(std::atoi(argv[2]));
    return 1;
  }
  if (mode == "dump" && argc >= 3) {
    return dump(argc, argv, envp);
  }
  if (mode == "hop" && argc == 4) {
    return start_hoppers(std::atoi(argv[2]), std::atoi(argv[3]));
  }
  if (mode == "spin" && argc == 3) {
    return spin(std::atoi(argv[2]));
  }
  if ((mode == "sleepers" || mode == "stay") && argc == 4) {
    return start_sleepers(std::atoi(argv[2]), std::atoi(argv[3]), mode == "stay");
  }
  std::string text;
  for (int i = 0; i < argc; ++i) {
    text += "arg " + hex(argv[i]) + "\n";
  }
  return write_all(STDOUT_FILENO, text) ? 0 : 1;
}
