// run_filtered [--allow NAME,...] [--unstated] [--log FILE] -- PROGRAM ARG...
//
// Runs a program under the filter of a policy that allows the names or groups (default: @default),
// or that does not state system calls, and answers its calls with the channel. Exits as the program
// does (128+n for signal n). Every entry of the record is a line of FILE:
//   COUNT OUTCOME CAUSE RULE CALL ERRNO EXECUTABLE
// A test tool: no helper, no Landlock.

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "aasm/schema/enum_names.h"

#include "filtered_process.h"

namespace aasm::backend_native {
namespace {

struct Options {
  std::vector<std::string_view> allow;
  bool stated = true;
  std::string log;
  char** program = nullptr;
};

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    parts.push_back(text.substr(0, comma));
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
  return parts;
}

// Empty `program` for a command line that does not parse.
Options parse(int argc, char** argv) {
  Options options;
  int i = 1;
  for (; i < argc && std::strcmp(argv[i], "--") != 0; ++i) {
    const std::string_view word = argv[i];
    if (word == "--unstated") {
      options.stated = false;
    } else if (word == "--allow" && i + 1 < argc) {
      options.allow = split(argv[++i]);
    } else if (word == "--log" && i + 1 < argc) {
      options.log = argv[++i];
    } else {
      return {};
    }
  }
  if (options.allow.empty()) {
    options.allow = {"@default"};
  }
  if (i + 1 < argc) {
    options.program = argv + i + 1;
  }
  return options;
}

void write_log(const std::string& path, const std::vector<schema::Event>& events) {
  std::ofstream log(path);
  for (const schema::Event& event : events) {
    log << event.count << ' ' << schema::token(event.outcome) << ' ' << schema::token(event.cause)
        << ' ' << event.rule << ' ' << event.object.name << ' ' << event.os_errno << ' '
        << event.executable.display() << '\n';
  }
}

int run(const Options& options) {
  const schema::Requirement policy = syscall_policy(options.allow);
  const auto spec = make_filter_spec(options.stated ? &policy : nullptr, "errno");
  if (!spec) {
    std::fprintf(stderr, "run_filtered: %s\n", spec.error().message().c_str());
    return 125;
  }
  FilteredOptions filtered;
  filtered.before_exec = [&options] {
    ::execvp(options.program[0], options.program);
    ::_exit(errno == ENOENT ? 127 : 126);
  };
  FilteredProcess process(
      *spec, [] { return 125; }, filtered);
  process.go();
  const int status = process.wait();
  process.finish();
  if (!options.log.empty()) {
    write_log(options.log, process.events());
  }
  if (process.channel().failure() || process.totals().dropped != 0) {
    std::fprintf(stderr, "run_filtered: the channel failed\n");
    return 122;
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace
}  // namespace aasm::backend_native

int main(int argc, char** argv) {
  const auto options = aasm::backend_native::parse(argc, argv);
  if (options.program == nullptr) {
    std::fprintf(stderr,
                 "usage: run_filtered [--allow NAME,...] [--unstated] [--log FILE] -- PROGRAM "
                 "ARG...\n");
    return 125;
  }
  return aasm::backend_native::run(options);
}
