#include "files.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "aasm/process/fd.h"

namespace aasm::cli {

using schema::Error;
using schema::ErrorCode;

schema::Result<std::string> read_small_file(const std::string& path, std::size_t max_bytes) {
  const std::string doing = "cannot read " + path;
  const process::Fd file =
      AASM_TRY_CONTEXT(process::open_file(path, O_RDONLY | O_NONBLOCK | O_NOCTTY), doing);
  struct stat info {};
  if (fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) {
    return Error(ErrorCode::kInvalidArgument, "not a regular file: " + path);
  }
  return AASM_TRY_CONTEXT(process::read_all(file.borrow(), max_bytes), doing);
}

}  // namespace aasm::cli
