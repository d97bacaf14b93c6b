#pragma once

#include <set>
#include <string>
#include <vector>

namespace aasm::test {

// What launch_probe says about itself.
struct ProbeDump {
  std::vector<std::string> args;
  std::vector<std::string> environment;
  std::set<int> descriptors;
  std::string cwd;
  long nofile = -1;
  std::string status;  // the text of /proc/self/status

  // The value of one line of /proc/self/status, blanks trimmed.
  std::string status_line(const std::string& name) const;
};

ProbeDump parse_probe_dump(const std::string& text);

}  // namespace aasm::test
