#include "result.h"

#include <sys/utsname.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <memory>
#include <thread>

#include "aasm/schema/time.h"

namespace aasm::bench {
namespace {

std::string first_line_of(const char* command) {
  struct Closer {
    void operator()(std::FILE* pipe) const { pclose(pipe); }
  };
  const std::unique_ptr<std::FILE, Closer> pipe(popen(command, "r"));
  std::array<char, 256> line{};
  if (pipe == nullptr || std::fgets(line.data(), line.size(), pipe.get()) == nullptr) {
    return "unknown";
  }
  std::string text(line.data());
  text.erase(text.find_last_not_of("\n") + 1);
  return text;
}

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) {
      return line.substr(line.find(':') + 2);
    }
  }
  return "unknown";
}

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) {
    return 0;
  }
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

schema::JsonValue::Object circumstances() {
  utsname host{};
  uname(&host);
  std::ifstream load_file("/proc/loadavg");
  std::string load;
  std::getline(load_file, load);
  return {
      {"commit", first_line_of("git -C " AASM_SOURCE_DIR " describe --always --dirty 2>/dev/null")},
      {"cores", static_cast<std::int64_t>(std::thread::hardware_concurrency())},
      {"kernel", std::string(host.release)},
      {"load", load},
      {"processor", processor()},
      {"when", schema::format_wall(static_cast<std::int64_t>(time(nullptr)) * 1000000000)},
  };
}

}  // namespace aasm::bench
