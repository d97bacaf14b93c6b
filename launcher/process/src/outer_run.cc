#include "aasm/process/outer_run.h"

#include <unistd.h>

#include "aasm/process/proc_status.h"

namespace aasm::process {
namespace {

constexpr int kMaxDepth = 4096;  // of processes above this one

}  // namespace

bool seems_inside_a_run() {
  constexpr std::int64_t kFilter = 2;
  const schema::Result<ProcStatus> own = read_proc_status(getpid());
  if (!own || own->seccomp_mode != kFilter || !own->no_new_privs) {
    return false;
  }
  pid_t pid = own->ppid;
  for (int depth = 0; pid > 1 && depth < kMaxDepth; ++depth) {
    const schema::Result<ProcStat> stat = read_proc_stat(pid);
    if (!stat) {
      return false;
    }
    if (stat->comm == "aasm-warden") {
      return true;
    }
    pid = stat->ppid;
  }
  return false;
}

}  // namespace aasm::process
