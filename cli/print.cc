#include "print.h"

#include <system_error>
#include <unistd.h>

#include <cerrno>

#include "aasm/process/fd.h"
#include "aasm/schema/json_write.h"
#include "aasm/schema/time.h"
#include "aasm/schema/utf8.h"

namespace aasm::cli {
namespace {

// A reader that went away is no failure of the command.
void print_to(int fd, std::string_view text) {
  [[maybe_unused]] const schema::Result<void> done =
      process::write_all(process::BorrowedFd(fd), schema::as_bytes(text));
}

}  // namespace

void print_out(std::string_view text) {
  print_to(STDOUT_FILENO, text);
}
schema::Result<void> write_out(std::string_view text) {
  schema::Result<void> done =
      process::write_all(process::BorrowedFd(STDOUT_FILENO), schema::as_bytes(text));
  if (!done && done.error().os_errno() == EPIPE) {
    return {};
  }
  return done;
}
void print_err(std::string_view text) {
  print_to(STDERR_FILENO, text);
}

std::string error_line(const schema::Error& error) {
  std::string line = "error: " + schema::escape_for_display(error.message());
  const std::string reason = std::generic_category().message(error.os_errno());
  if (error.os_errno() != 0 && error.message().find(reason) == std::string::npos) {
    line += " (" + reason + ")";
  }
  return line + "\n";
}

void print_json(const schema::JsonValue& value) {
  print_out(schema::json_write(value) + "\n");
}

std::string short_time(std::int64_t wall_ns) {
  std::string text = schema::format_wall(wall_ns);
  text.resize(19);
  text[10] = ' ';
  return text + "Z";
}

}  // namespace aasm::cli
