#include "print.h"

#include <system_error>
#include <unistd.h>

#include <cerrno>

#include "aasm/schema/json_write.h"
#include "aasm/schema/time.h"
#include "aasm/schema/utf8.h"

namespace aasm::cli {
namespace {

void write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t wrote = write(fd, text.data(), text.size());
    if (wrote < 0 && errno == EINTR) {
      continue;
    }
    if (wrote <= 0) {
      return;
    }
    text.remove_prefix(static_cast<std::size_t>(wrote));
  }
}

}  // namespace

void print_out(std::string_view text) {
  write_all(STDOUT_FILENO, text);
}
void print_err(std::string_view text) {
  write_all(STDERR_FILENO, text);
}

std::string error_line(const schema::Error& error) {
  std::string line = "error: " + schema::escape_for_display(error.message());
  if (error.os_errno() != 0) {
    line += " (" + std::generic_category().message(error.os_errno()) + ")";
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
