#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "aasm/planner/backend.h"
#include "aasm/schema/record.h"

#include "support/temp_dir.h"

// One launch of aasm-native with a real helper, made in a child process that stands for the
// supervisor, so that a test can drop its privileges, fill its descriptor table or kill it.
namespace aasm::backend_native::testing {

enum class As : std::uint8_t { kSelf, kNobody };

// The files a launch works with.
//   home/            $AASM_HOME: ledger.db, keys/log.key; canary/ is made by the backend
//   work/            granted for reading and writing; work/file
//   link -> work
//   ro/              granted for reading; ro/file, ro/tool, ro/script (#! actions)
//   secret/          not granted; secret/file, secret/tool
//   actions          the program that tries things (actions.cc); granted
class Layout {
 public:
  explicit Layout(As as);
  std::string path(const std::string& name) const { return directory_.file(name); }
  std::string actions() const { return path("actions"); }

 private:
  test::TempDir directory_;
};

// What to launch. Everything has a default that works.
struct Launch {
  As as = As::kSelf;
  std::vector<std::string> command;  // argv[0] is the program; an absolute path
  std::vector<schema::Requirement> requirements;
  std::string on_denial = "errno";
  std::vector<std::string> environment;
  std::vector<int> descriptors = {0, 1, 2};
  std::string working_dir;
  std::string helper = "aasm-launch-helper";
  bool hands_out_control = false;  // records of what is installed come before the report
  // In the supervisor: before prepare(), between start() and the record of the start, and between
  // that and the wait for the end.
  std::function<void()> before;
  std::function<void()> before_recording;
  std::function<void(planner::RunningExecution&)> while_running;
};

// What became of it.
struct RunResult {
  bool supervisor_lived = false;  // false: it was killed, and there are no records
  std::string output;             // of the program, stdout and stderr
  std::vector<schema::RecordBody> records;
  schema::RunClosed closed;

  template <class T>
  std::vector<T> all() const {
    std::vector<T> found;
    for (const schema::RecordBody& body : records) {
      if (const T* record = std::get_if<T>(&body)) {
        found.push_back(*record);
      }
    }
    return found;
  }
  template <class T>
  std::optional<T> first() const {
    const std::vector<T> found = all<T>();
    return found.empty() ? std::nullopt : std::optional<T>(found.front());
  }
  std::vector<schema::Event> events() const;
  std::optional<schema::Canary> canary(const std::string& id) const;
  // Whether the program's output has this line.
  bool says(const std::string& line) const;
  // The number behind `word` in a line "word N"; -1 without one.
  int number_after(const std::string& word) const;
};

// In a command, "{supervisor}" in a word stands for the supervisor's pid.
RunResult run_confined(const Layout& layout, Launch launch);

// The requirements that fit the layout, and the two that fit nothing.
schema::Requirement reads(const Layout& layout, std::vector<std::string> more = {});
schema::Requirement writes(const Layout& layout, std::vector<std::string> more = {});
std::vector<schema::Requirement> usual(const Layout& layout);
schema::Requirement syscalls_default_without(std::vector<std::string> denied);
schema::Requirement credentials();

// What programs of the host need to start.
std::vector<std::string> system_paths();

// Turns the calling process, which is root, into nobody for good.
void become_nobody();

// Whether the process is gone, waiting up to a second for it.
bool gone(int pid);

// The parent of a process of this host; -1 when there is none.
int parent_of(int pid);

// A suite that runs once as who runs the tests and once as nobody.
class ConfinedTest : public ::testing::TestWithParam<As> {
 protected:
  // Fills in who runs it and, when none are given, the usual requirements.
  RunResult run(Launch launch);
  // Lets the program of actions.cc try these.
  RunResult run_actions(std::vector<std::string> actions, Launch launch = {});

  Layout layout_{GetParam()};
};

std::string name_of_user(const ::testing::TestParamInfo<As>& parameter);

}  // namespace aasm::backend_native::testing
