#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cerrno>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "aasm/process/fd.h"
#include "aasm/process/spawn.h"

#include "probe_dump.h"
#include "shebang_rows.h"
#include "temp_dir.h"

// The kernel as the oracle of the table in shebang_rows.h.
namespace aasm::process {
namespace {

struct Execution {
  int os_errno = 0;
  std::vector<std::string> args;
};

Execution execute_script(const std::string& path) {
  Pipe pipe = std::move(make_pipe()).value();
  SpawnRequest request;
  request.path = path;
  request.argv = {"given"};
  request.descriptors = {{1, pipe.write_end.get()}};
  const auto process = spawn(request);
  pipe.write_end.reset();
  if (!process) {
    return {process.error().os_errno(), {}};
  }
  Execution execution;
  execution.args = test::parse_probe_dump(read_all(pipe.read_end.borrow(), 1U << 20).value()).args;
  ::waitpid(process->pid, nullptr, 0);
  return execution;
}

TEST(ShebangKernelTest, KernelDoesWithEachLineWhatTheTableSays) {
  const test::TempDir dir;
  // A short name, so that the rows about the line's length are about the line.
  const std::string interpreter = dir.file("i");
  ASSERT_EQ(::symlink(AASM_LAUNCH_PROBE, interpreter.c_str()), 0);
  int number = 0;
  for (const auto& row : test::shebang_rows(interpreter)) {
    const std::string path = dir.file("script" + std::to_string(number++));
    std::ofstream(path, std::ios::binary) << row.head;
    ASSERT_EQ(::chmod(path.c_str(), 0755), 0);
    const Execution execution = execute_script(path);
    if (row.format != ProgramFormat::kScript) {
      EXPECT_EQ(execution.os_errno, ENOEXEC) << row.name;
      continue;
    }
    std::vector<std::string> expected = {interpreter};
    if (!row.argument.empty()) {
      expected.push_back(row.argument);
    }
    expected.push_back(path);
    EXPECT_EQ(execution.os_errno, 0) << row.name;
    EXPECT_EQ(execution.args, expected) << row.name;
  }
}

}  // namespace
}  // namespace aasm::process
