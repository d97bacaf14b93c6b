#include "process_list.h"

#include <dirent.h>
#include <sys/syscall.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "aasm/process/fd.h"
#include "aasm/process/proc_status.h"

namespace aasm::backend_native {
namespace {

using schema::Result;

struct CloseDir {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

// nullopt when it has gone.
std::optional<ListedProcess> read_process(pid_t pid) {
  const Result<process::ProcStat> stat = process::read_proc_stat(pid);
  if (!stat) {
    return std::nullopt;
  }
  return ListedProcess{pid, stat->ppid, stat->process_group, stat->state, stat->start_time_ticks};
}

Result<std::unordered_map<pid_t, ListedProcess>> read_all_processes() {
  const std::unique_ptr<DIR, CloseDir> list(::opendir("/proc"));
  if (list == nullptr) {
    return process::system_error("opening /proc", errno);
  }
  std::unordered_map<pid_t, ListedProcess> all;
  while (const dirent* entry = ::readdir(list.get())) {
    pid_t pid = 0;
    const char* name = static_cast<const char*>(entry->d_name);
    const char* end = name + std::strlen(name);
    if (std::from_chars(name, end, pid).ptr == end && pid > 0) {
      if (const auto process = read_process(pid)) {
        all.emplace(pid, *process);
      }
    }
  }
  return all;
}

enum class Descent : std::uint8_t { kBelow, kElsewhere, kGone, kUnknown };

class Family {
 public:
  Family(pid_t root, std::unordered_map<pid_t, ListedProcess> all)
      : root_(root), all_(std::move(all)) {}

  const ListedProcess& process(pid_t pid) const { return all_.at(pid); }

  // Descent never changes: whoever loses its parent below a subreaper gets another from there.
  // Parents that went away while /proc was read make it necessary to look again.
  Descent of(pid_t pid) {
    constexpr int kTries = 16;
    Descent found = Descent::kUnknown;
    std::vector<pid_t> chain;
    for (int i = 0; i < kTries && found == Descent::kUnknown; ++i) {
      chain.clear();
      found = follow(pid, chain);
      if (found == Descent::kUnknown && !refresh(chain)) {
        return Descent::kGone;
      }
    }
    for (const pid_t one : chain) {
      known_[one] = found;
    }
    return found;
  }

 private:
  // kUnknown where a link is missing.
  Descent follow(pid_t pid, std::vector<pid_t>& chain) {
    while (pid != root_ && pid > 1) {
      const auto known = known_.find(pid);
      if (known != known_.end() && known->second != Descent::kUnknown) {
        return known->second;
      }
      auto link = all_.find(pid);
      if (link == all_.end()) {
        const auto late = read_process(pid);
        if (!late) {
          return Descent::kUnknown;
        }
        link = all_.emplace(pid, *late).first;
      }
      chain.push_back(pid);
      pid = link->second.parent;
    }
    return pid == root_ ? Descent::kBelow : Descent::kElsewhere;
  }

  // Reads again what stands in the chain; false when its first has gone.
  bool refresh(const std::vector<pid_t>& chain) {
    if (chain.empty()) {
      return false;
    }
    for (const pid_t pid : chain) {
      const auto again = read_process(pid);
      if (again) {
        all_[pid] = *again;
      } else if (pid == chain.front()) {
        return false;
      } else {
        all_.erase(pid);
      }
    }
    return true;
  }

  pid_t root_;
  std::unordered_map<pid_t, ListedProcess> all_;
  std::unordered_map<pid_t, Descent> known_;
};

}  // namespace

Result<std::vector<ListedProcess>> list_descendants(pid_t root) {
  std::unordered_map<pid_t, ListedProcess> all = AASM_TRY(read_all_processes());
  std::vector<pid_t> pids;
  pids.reserve(all.size());
  for (const auto& entry : all) {
    pids.push_back(entry.first);
  }
  Family family(root, std::move(all));
  std::vector<ListedProcess> found;
  for (const pid_t pid : pids) {
    const Descent descent = pid == root ? Descent::kElsewhere : family.of(pid);
    if (descent == Descent::kBelow || descent == Descent::kUnknown) {
      found.push_back(family.process(pid));
      found.back().certain = descent == Descent::kBelow;
    }
  }
  return found;
}

bool may_descend(pid_t pid, pid_t root) {
  return Family(root, {}).of(pid) != Descent::kElsewhere;
}

Result<std::vector<pid_t>> list_group(pid_t group) {
  const std::unordered_map<pid_t, ListedProcess> all = AASM_TRY(read_all_processes());
  std::vector<pid_t> members;
  for (const auto& [pid, process] : all) {
    if (process.group == group) {
      members.push_back(pid);
    }
  }
  return members;
}

// What waits for the answer to a notification is awake by the time that the answer has been given.
// In clone(2) itself a thread sleeps so that signals do not wake it (state D), but for a fault on
// memory behind a user's file system, so the call it sleeps in is asked for too.
bool left_creation(pid_t tid) {
  const auto thread = read_process(tid);
  if (!thread || thread->state == 'Z' || thread->state == 'X' || thread->state == 'T' ||
      thread->state == 't') {
    return true;
  }
  if (thread->state != 'S') {
    return false;
  }
  const Result<std::string> call =
      process::read_small_file("/proc/" + std::to_string(tid) + "/syscall");
  if (!call) {
    return true;  // not ours to read: the state has to do
  }
  long number = -1;
  std::from_chars(call->data(), call->data() + call->size(), number);
#if defined(SYS_fork)
  if (number == SYS_fork || number == SYS_vfork) {
    return false;
  }
#endif
  return number != SYS_clone && number != -1;
}

}  // namespace aasm::backend_native
