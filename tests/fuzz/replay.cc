#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

// Runs the harness that this is linked with on every file of the folders given, in order of their
// names, without the fuzzer's runtime. A failure ends the process inside the harness; the last name
// printed is the file that did it.

// NOLINTNEXTLINE(readability-identifier-naming): the name libFuzzer asks for.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

std::vector<std::string> files_of(const char* folder) {
  std::vector<std::string> files;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failed)) {
    files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

bool replay(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  if (!file.is_open() || file.bad()) {
    return false;
  }
  // A copy of its own size, so that the address sanitizer sees a read past the end.
  const std::vector<std::uint8_t> data(bytes.begin(), bytes.end());
  return LLVMFuzzerTestOneInput(data.data(), data.size()) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t done = 0;
  for (int i = 1; i < argc; ++i) {
    for (const std::string& path : files_of(argv[i])) {
      std::printf("%s\n", path.c_str());
      static_cast<void>(std::fflush(stdout));
      if (!replay(path)) {
        std::printf("not run\n");
        return 1;
      }
      ++done;
    }
  }
  std::printf("%zu inputs\n", done);
  return done == 0 ? 1 : 0;  // a corpus that is not there is a failure
}
