#include "verify_child.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <fstream>
#include <new>
#include <utility>
#include <vector>

#include "aasm/process/self_confine.h"
#include "aasm/sqlite/harden.h"

#include "exit_status.h"
#include "print.h"

namespace aasm::cli {
namespace {

// Far above what a ledger of any length takes: neither the checks nor the report grow with it.
constexpr rlim_t kMemoryBytes = rlim_t{2} << 30U;
constexpr std::int64_t kSqliteBytes = std::int64_t{256} << 20U;
// First words of the message: whether a file was refused, and how many bytes follow of the state,
// or of the file's own note when it is forked.
constexpr std::string_view kRefused = "refused ";
constexpr std::string_view kRead = "read ";
constexpr std::string_view kNoState = "-";

// Writable memory that the process has now: sanitizers, for one, reserve much before main().
rlim_t data_bytes_now() {
  std::ifstream statm("/proc/self/statm");
  rlim_t pages = 0;
  for (int field = 0; field < 6; ++field) {  // the sixth: data and stack, proc(5)
    statm >> pages;
  }
  return statm ? pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) : 0;
}

void lower_limit(__rlimit_resource resource, rlim_t most) {
  rlimit limit{};
  if (getrlimit(resource, &limit) == 0 && limit.rlim_cur > most) {
    limit.rlim_cur = most;
    setrlimit(resource, &limit);
  }
}

void limit_memory() {
  lower_limit(RLIMIT_CORE, 0);
  const rlim_t now = data_bytes_now();
  if (now > 0) {
    lower_limit(RLIMIT_DATA, now + kMemoryBytes);
  }
  sqlite::set_process_heap_limit(kSqliteBytes);
  std::set_new_handler([] { _exit(kExitOutOfMemory); });
}

// The target and the files that SQLite keeps beside it, as they are now. Looked for at the last
// moment: a writer may make another WAL at any time, and a rule of Landlock is for a file.
class TargetFiles {
 public:
  explicit TargetFiles(const std::string& target) {
    for (const char* suffix : {"", "-wal", "-shm", "-journal"}) {
      const std::string name = target + suffix;
      process::Fd file(open(name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
      struct stat info {};
      const bool regular = file.valid() && fstat(file.get(), &info) == 0 && S_ISREG(info.st_mode);
      if (regular) {
        files_.push_back(std::move(file));
      }
    }
  }
  std::vector<process::BorrowedFd> borrow() const {
    std::vector<process::BorrowedFd> list;
    for (const process::Fd& file : files_) {
      list.push_back(file.borrow());
    }
    return list;
  }

 private:
  std::vector<process::Fd> files_;
};

process::ConfinementReport confine(const std::string& target, process::BorrowedFd scratch) {
  const TargetFiles files(target);
  process::SelfConfinement keep;
  keep.readable = files.borrow();
  if (scratch.valid()) {
    keep.scratch.push_back(scratch);
  }
  return process::confine_self(keep);
}

// Landlock refuses no descriptor that is open already.
void keep_only(process::BorrowedFd out) {
  const bool kept = dup2(out.get(), STDIN_FILENO) >= 0 && dup2(out.get(), STDOUT_FILENO) >= 0 &&
                    syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, 0) == 0;
  if (!kept) {
    _exit(kExitOutOfMemory);
  }
}

}  // namespace

Verified render(const verifier::VerifyReport& report, Format format) {
  return {verifier::exit_status(report.verdict),
          format == Format::kJson ? json_line(report.json) : report.text, report.new_state,
          report.fork_note, report.file_refused};
}

void run_verify_child(verifier::VerifyRequest request, Format format, process::BorrowedFd scratch,
                      process::BorrowedFd out) {
  limit_memory();
  const process::ConfinementReport confined = confine(request.target, scratch);
  keep_only(out);
  request.confinement = {confined.landlock_abi, confined.filter, confined.text()};
  const Verified verified = render(verifier::verify(request), format);
  const std::optional<std::string>& note =
      verified.new_state ? verified.new_state : verified.fork_note;
  const std::string head = note ? std::to_string(note->size()) : std::string(kNoState);
  const std::string message = std::string(verified.file_refused ? kRefused : kRead) + head + "\n" +
                              note.value_or("") + verified.text;
  const schema::Result<void> written =
      process::write_all(process::BorrowedFd(STDOUT_FILENO), schema::as_bytes(message));
  // No destructors, no exit handlers: they have nothing to do here, and a sanitizer's would want
  // to look into this process.
  _exit(written ? verified.status : kExitOutOfMemory);
}

std::optional<Verified> read_message(std::string_view message, int status) {
  const std::size_t line = message.find('\n');
  if (line == std::string_view::npos) {
    return std::nullopt;
  }
  std::string_view head = message.substr(0, line);
  std::string_view rest = message.substr(line + 1);
  Verified verified;
  verified.status = status;
  verified.file_refused = head.starts_with(kRefused);
  if (!verified.file_refused && !head.starts_with(kRead)) {
    return std::nullopt;
  }
  head.remove_prefix(verified.file_refused ? kRefused.size() : kRead.size());
  if (head != kNoState) {
    std::size_t size = 0;
    const auto parsed = std::from_chars(head.data(), head.data() + head.size(), size);
    if (parsed.ec != std::errc{} || parsed.ptr != head.data() + head.size() || size > rest.size()) {
      return std::nullopt;
    }
    (status == kExitOk ? verified.new_state : verified.fork_note) =
        std::string(rest.substr(0, size));
    rest.remove_prefix(size);
  }
  verified.text = std::string(rest);
  return verified;
}

}  // namespace aasm::cli
