#include "probe_dump.h"

#include <sstream>

namespace aasm::test {

namespace {

std::string unhex(const std::string& text) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

}  // namespace

ProbeDump parse_probe_dump(const std::string& text) {
  ProbeDump dump;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::string key = line.substr(0, line.find(' '));
    const std::string value = line.substr(key.size() + 1);
    if (key == "arg") {
      dump.args.push_back(unhex(value));
    } else if (key == "env") {
      dump.environment.push_back(unhex(value));
    } else if (key == "fd") {
      dump.descriptors.insert(std::stoi(value));
    } else if (key == "cwd") {
      dump.cwd = unhex(value);
    } else if (key == "nofile") {
      dump.nofile = std::stol(value);
    } else if (key == "status") {
      dump.status += value + "\n";
    }
  }
  return dump;
}

std::string ProbeDump::status_line(const std::string& name) const {
  std::istringstream lines(status);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind(name + ":", 0) == 0) {
      const std::size_t start = line.find_first_not_of(" \t", name.size() + 1);
      return start == std::string::npos ? "" : line.substr(start);
    }
  }
  return "(no line)";
}

}  // namespace aasm::test
