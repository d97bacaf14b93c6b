#include "left_behind.h"

#include <sys/types.h>
#include <system_error>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <filesystem>

namespace aasm::backend_native {

void remove_left_behind(const std::string& folder, std::string_view prefix,
                        int (*remove)(const char* path)) {
  std::error_code ignored;
  std::filesystem::directory_iterator entries(folder, ignored);
  for (; !ignored && entries != std::filesystem::directory_iterator(); entries.increment(ignored)) {
    const std::string name = entries->path().filename().string();
    pid_t owner = 0;
    if (name.starts_with(prefix)) {
      std::from_chars(name.data() + prefix.size(), name.data() + name.size(), owner);
    }
    if (owner > 0 && ::kill(owner, 0) != 0 && errno == ESRCH) {
      remove(entries->path().c_str());
    }
  }
}

}  // namespace aasm::backend_native
