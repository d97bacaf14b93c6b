#include "aasm/process/proc_status.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>
#include <vector>

#include "aasm/process/fd.h"

#include "number.h"

namespace aasm::process {

namespace {

using schema::Error;
using schema::ErrorCode;
using schema::Result;

constexpr std::size_t kMaxSmallFile = 1UL << 20;

Error malformed(const char* what) {
  return Error(ErrorCode::kMalformed, what);
}

std::vector<std::string_view> split_fields(std::string_view text) {
  std::vector<std::string_view> fields;
  std::size_t at = text.find_first_not_of(" \t\n");
  while (at != std::string_view::npos) {
    const std::size_t end = text.find_first_of(" \t\n", at);
    fields.push_back(text.substr(at, end - at));
    at = end == std::string_view::npos ? end : text.find_first_not_of(" \t\n", end);
  }
  return fields;
}

// The text behind "Name:" at the start of a line, without blanks around it. The name of the process
// is printed with its newlines escaped, so no process can add a line.
std::optional<std::string_view> value_of(std::string_view text, std::string_view name) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    if (line.size() > name.size() && line.substr(0, name.size()) == name &&
        line[name.size()] == ':') {
      const std::size_t start = line.find_first_not_of(" \t", name.size() + 1);
      return start == std::string_view::npos ? std::string_view() : line.substr(start);
    }
    at = end + 1;
  }
  return std::nullopt;
}

template <class T>
Result<T> number_field(std::string_view text, std::string_view name, std::size_t index = 0) {
  const auto value = value_of(text, name);
  if (!value) {
    return malformed("a line of /proc/PID/status is missing");
  }
  const auto fields = split_fields(*value);
  if (fields.size() <= index) {
    return malformed("a line of /proc/PID/status is short");
  }
  return parse_number<T>(fields[index]);
}

Result<std::string> mask_field(std::string_view text, std::string_view name) {
  const auto value = value_of(text, name);
  if (!value || value->size() != 16 || !parse_number<std::uint64_t>(*value, 16)) {
    return malformed("a capability mask of /proc/PID/status is missing");
  }
  return std::string(*value);
}

}  // namespace

Result<std::vector<std::uint64_t>> status_numbers(std::string_view text, std::string_view name,
                                                  int base) {
  const auto value = value_of(text, name);
  if (!value) {
    return malformed("a line of /proc/PID/status is missing");
  }
  std::vector<std::uint64_t> numbers;
  for (const std::string_view field : split_fields(*value)) {
    numbers.push_back(AASM_TRY(parse_number<std::uint64_t>(field, base)));
  }
  return numbers;
}

Result<ProcStat> parse_proc_stat(std::string_view text) {
  // The name may hold anything, ") R 1" too: it ends at the last parenthesis.
  const std::size_t open = text.find(" (");
  const std::size_t close = text.rfind(") ");
  if (open == std::string_view::npos || close == std::string_view::npos || close < open + 2) {
    return malformed("/proc/PID/stat has no name");
  }
  ProcStat stat;
  stat.pid = AASM_TRY(parse_number<pid_t>(text.substr(0, open)));
  stat.comm = std::string(text.substr(open + 2, close - open - 2));
  const auto fields = split_fields(text.substr(close + 2));
  constexpr std::size_t kStartTime = 19;  // field 22 of the file; fields[0] is field 3
  if (fields.size() <= kStartTime || fields[0].size() != 1) {
    return malformed("/proc/PID/stat is short");
  }
  stat.state = fields[0].front();
  stat.ppid = AASM_TRY(parse_number<pid_t>(fields[1]));
  stat.process_group = AASM_TRY(parse_number<pid_t>(fields[2]));
  stat.session = AASM_TRY(parse_number<pid_t>(fields[3]));
  stat.terminal = AASM_TRY(parse_number<std::int64_t>(fields[4]));
  stat.start_time_ticks = AASM_TRY(parse_number<std::uint64_t>(fields[kStartTime]));
  return stat;
}

Result<ProcStatus> parse_proc_status(std::string_view text) {
  constexpr std::size_t kEffective = 1;  // real, effective, saved, filesystem
  ProcStatus status;
  status.tgid = AASM_TRY(number_field<pid_t>(text, "Tgid"));
  status.ppid = AASM_TRY(number_field<pid_t>(text, "PPid"));
  status.tracer_pid = AASM_TRY(number_field<pid_t>(text, "TracerPid"));
  status.effective_uid = AASM_TRY(number_field<std::uint32_t>(text, "Uid", kEffective));
  status.effective_gid = AASM_TRY(number_field<std::uint32_t>(text, "Gid", kEffective));
  status.cap_inheritable = AASM_TRY(mask_field(text, "CapInh"));
  status.cap_permitted = AASM_TRY(mask_field(text, "CapPrm"));
  status.cap_effective = AASM_TRY(mask_field(text, "CapEff"));
  status.cap_bounding = AASM_TRY(mask_field(text, "CapBnd"));
  status.cap_ambient = AASM_TRY(mask_field(text, "CapAmb"));
  status.no_new_privs = AASM_TRY(number_field<std::uint32_t>(text, "NoNewPrivs")) != 0;
  status.seccomp_mode = AASM_TRY(number_field<std::uint32_t>(text, "Seccomp"));
  return status;
}

Result<std::string> read_small_file(const std::string& path) {
  const Fd fd = AASM_TRY(open_file(path, O_RDONLY));
  return read_all(fd.borrow(), kMaxSmallFile);
}

Result<ProcStat> read_proc_stat(pid_t pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/stat";
  const std::string text = AASM_TRY_CONTEXT(read_small_file(path), "reading " + path);
  return parse_proc_stat(text);
}

Result<ProcStatus> read_proc_status(pid_t pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/status";
  const std::string text = AASM_TRY_CONTEXT(read_small_file(path), "reading " + path);
  return parse_proc_status(text);
}

Result<std::string> read_link(const std::string& path) {
  // A link of proc(5) tells no size, and its target is at most a page.
  std::array<char, 4097> buffer{};
  const ssize_t size = ::readlink(path.c_str(), buffer.data(), buffer.size());
  if (size < 0) {
    return system_error("readlink", errno);
  }
  if (static_cast<std::size_t>(size) == buffer.size()) {
    return Error(ErrorCode::kResourceExhausted, "the target of a link is too long");
  }
  return std::string(buffer.data(), static_cast<std::size_t>(size));
}

}  // namespace aasm::process
