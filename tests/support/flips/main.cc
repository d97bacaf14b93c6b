#include <unistd.h>

#include <array>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string_view>

#include "flips.h"

// flips KIND ROUNDS [ARGUMENT...]: prints "MADE REFUSED OTHER LEAKS". With -ROUNDS it says "ready"
// before and waits for a line. Words of no kind: ends with a
// status that says whether the file of this program is called "denied".

namespace {

const std::map<std::string, flips::Kind>& kinds() {
  static const std::map<std::string, flips::Kind> list = {
      {"attributes", flips::flip_attributes},
      {"links", flips::flip_links},
      {"renames", flips::flip_renames},
      {"exchanges", flips::flip_exchanges},
      {"directories", flips::flip_directories},
      {"open_how", flips::flip_open_how},
      {"sockets", flips::flip_sockets},
      {"messages", flips::flip_messages},
      {"executed_names", flips::flip_executed_names},
      {"executed_links", flips::flip_executed_links},
      {"executed_descriptors", flips::flip_executed_descriptors},
  };
  return list;
}

int tell() {
  std::array<char, PATH_MAX> path{};
  const ssize_t size = ::readlink("/proc/self/exe", path.data(), path.size());
  const std::string_view own(path.data(), size < 0 ? 0 : static_cast<std::size_t>(size));
  return own.ends_with("/denied") ? flips::kToldDenied : 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const auto kind = words.size() < 2 ? kinds().end() : kinds().find(words[0]);
  if (kind == kinds().end()) {
    return tell();
  }
  const long rounds = std::strtol(words[1].c_str(), nullptr, 10);
  if (rounds < 0) {
    std::puts("ready");
    std::fflush(stdout);
    std::getchar();
  }
  const flips::Counts counts = kind->second(std::labs(rounds), {words.begin() + 2, words.end()});
  std::printf("%ld %ld %ld %ld\n", counts.made, counts.refused, counts.other, counts.leaks);
  return 0;
}
