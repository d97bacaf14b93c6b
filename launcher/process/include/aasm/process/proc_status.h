#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "aasm/schema/result.h"

// What proc(5) says about a process. The parsers are pure; readers return kNotFound when there is
// no such process (any more).
namespace aasm::process {

// /proc/PID/stat.
struct ProcStat {
  pid_t pid = 0;
  std::string comm;  // any bytes, parentheses and newlines included
  char state = '?';  // R, S, D, T, t, Z, ...
  pid_t ppid = 0;
  pid_t process_group = 0;
  pid_t session = 0;
  std::int64_t terminal = 0;           // device of the controlling one; 0: none
  std::uint64_t start_time_ticks = 0;  // field 22: clock ticks since boot
};

// /proc/PID/status, the fields used here. Masks are the sixteen hex digits as printed.
struct ProcStatus {
  pid_t tgid = 0;
  pid_t ppid = 0;
  pid_t tracer_pid = 0;
  std::int64_t effective_uid = 0;
  std::int64_t effective_gid = 0;
  std::string cap_inheritable;
  std::string cap_permitted;
  std::string cap_effective;
  std::string cap_bounding;
  std::string cap_ambient;
  bool no_new_privs = false;
  std::int64_t seccomp_mode = 0;  // 0 off, 1 strict, 2 filter
};

schema::Result<ProcStat> parse_proc_stat(std::string_view text);
schema::Result<ProcStatus> parse_proc_status(std::string_view text);

// The numbers behind "NAME:" in /proc/PID/status, in base 8, 10 or 16 as that line has them; none
// where the line is empty. kMalformed without the line, or for what is no number.
schema::Result<std::vector<std::uint64_t>> status_numbers(std::string_view text,
                                                          std::string_view name, int base);

schema::Result<ProcStat> read_proc_stat(pid_t pid);
schema::Result<ProcStatus> read_proc_status(pid_t pid);

// The target of a link, such as /proc/PID/exe; any bytes.
schema::Result<std::string> read_link(const std::string& path);

// A small file as text, for files whose size proc(5) does not tell; at most 1 MiB.
schema::Result<std::string> read_small_file(const std::string& path);

}  // namespace aasm::process
