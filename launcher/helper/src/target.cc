#include "target.h"

#include <linux/fcntl.h>
#include <linux/stat.h>

#include "sys.h"

namespace aasm::helper {

Outcome check_target(const Frame& frame) {
  const auto& header = *frame.header;
  if ((header.flags & wire::kFlagExecIdentity) == 0) {
    return not_requested();
  }
  struct statx found = {};
  const long result = raw_call(__NR_statx, AT_FDCWD, address(frame.exec_path), 0, STATX_BASIC_STATS,
                               address(&found));
  if (result < 0) {
    return failed(result);
  }
  const auto& wanted = header.exec_identity;
  const bool same =
      found.stx_ino == wanted.inode && found.stx_size == wanted.size_bytes &&
      found.stx_ctime.tv_sec == wanted.ctime_sec && found.stx_ctime.tv_nsec == wanted.ctime_nsec &&
      found.stx_dev_major == wanted.dev_major && found.stx_dev_minor == wanted.dev_minor;
  return same ? done() : failed(-kEstale);
}

long execute(const Frame& frame) {
  if (frame.exec_path != nullptr) {
    return raw_call(__NR_execve, address(frame.exec_path), address(frame.argv),
                    address(frame.envp));
  }
  return raw_call(__NR_execveat, frame.header->exec_fd, address(""), address(frame.argv),
                  address(frame.envp), AT_EMPTY_PATH);
}

}  // namespace aasm::helper
