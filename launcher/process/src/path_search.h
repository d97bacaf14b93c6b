#pragma once

#include <optional>
#include <string>

namespace aasm::process {

// 0 when the calling process may execute the regular file `path`, else the errno that execve(2)
// would give (EACCES for a directory).
int executable_errno(const std::string& path);

struct FoundProgram {
  std::string path;  // of the program, when os_errno is 0
  int os_errno = 0;  // ENOENT when nothing has the name, EACCES when what has it is not executable
};

// The file that execvp(3) would execute.
FoundProgram find_program(const std::string& program,
                          const std::optional<std::string>& search_path);

}  // namespace aasm::process
