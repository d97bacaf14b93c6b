#include "aasm/process/descendants.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <memory>
#include <string>
#include <thread>

#include "aasm/process/fd.h"

#include "number.h"

namespace aasm::process {

namespace {

using schema::Error;
using schema::ErrorCode;
using schema::Result;

constexpr std::size_t kMaxListBytes = 16UL << 20;

// Appends the numbers of "12 345 ".
Result<void> append_pids(const std::string& text, std::vector<pid_t>& pids) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    pids.push_back(AASM_TRY(parse_number<pid_t>(std::string_view(text).substr(at, end - at))));
    at = end + 1;
  }
  return {};
}

struct CloseDir {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

// Reaps what has ended of `pids`; counts what died of SIGKILL.
std::size_t reap(const std::vector<pid_t>& pids) {
  std::size_t killed = 0;
  for (const pid_t pid : pids) {
    int status = 0;
    if (::waitpid(pid, &status, WNOHANG | __WALL) == pid && WIFSIGNALED(status) &&
        WTERMSIG(status) == SIGKILL) {
      ++killed;
    }
  }
  return killed;
}

}  // namespace

Result<void> become_subreaper() {
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0) {
    return system_error("becoming a subreaper", errno);
  }
  return {};
}

Result<std::vector<pid_t>> list_children() {
  const std::unique_ptr<DIR, CloseDir> tasks(::opendir("/proc/self/task"));
  if (tasks == nullptr) {
    return system_error("opening /proc/self/task", errno);
  }
  std::vector<pid_t> pids;
  while (const dirent* entry = ::readdir(tasks.get())) {
    const std::string name(static_cast<const char*>(entry->d_name));
    if (name.front() == '.') {
      continue;
    }
    auto file = open_file("/proc/self/task/" + name + "/children", O_RDONLY);
    if (!file && file.error().os_errno() == ENOENT && name != std::to_string(::getpid())) {
      continue;  // The thread has ended.
    }
    const Fd fd = AASM_TRY_CONTEXT(std::move(file), "listing children");
    const std::string text = AASM_TRY(read_all(fd.borrow(), kMaxListBytes));
    AASM_TRY(append_pids(text, pids));
  }
  return pids;
}

Result<std::size_t> kill_descendants(const std::vector<pid_t>& keep,
                                     std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  std::size_t killed = 0;
  for (;;) {
    std::vector<pid_t> pids = AASM_TRY(list_children());
    const auto kept = [&](pid_t pid) {
      return std::find(keep.begin(), keep.end(), pid) != keep.end();
    };
    pids.erase(std::remove_if(pids.begin(), pids.end(), kept), pids.end());
    if (pids.empty()) {
      return killed;
    }
    // SAFETY: a child that only we wait for keeps its number until we do.
    for (const pid_t pid : pids) {
      ::kill(pid, SIGKILL);
    }
    killed += reap(pids);
    if (std::chrono::steady_clock::now() >= deadline) {
      return Error(ErrorCode::kUnavailable, "descendants are left after the time allowed");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace aasm::process
