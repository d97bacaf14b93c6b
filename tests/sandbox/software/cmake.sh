#!/bin/sh
# needs: cmake ninja g++
# A library, a program with generated sources and its tests: configured, built, tested, installed.
set -eu
. "$(dirname "$0")/places.inc"
mkdir src
cat > src/CMakeLists.txt <<'C'
cmake_minimum_required(VERSION 3.20)
project(sample CXX)
enable_testing()
add_custom_command(OUTPUT made.h COMMAND ${CMAKE_COMMAND} -E echo "constexpr int kMade = 41;" > made.h VERBATIM)
add_library(lib SHARED lib.cc made.h)
target_include_directories(lib PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
add_executable(prog main.cc)
target_link_libraries(prog PRIVATE lib)
add_test(NAME answers COMMAND prog 1)
add_test(NAME refuses COMMAND prog)
set_tests_properties(refuses PROPERTIES WILL_FAIL ON)
install(TARGETS prog lib)
C
printf '#include "made.h"\nint made() { return kMade; }\n' > src/lib.cc
printf '#include <iostream>\n#include <thread>\nint made();\nint main(int n, char**) {\n  int sum = 0;\n  std::thread t([&] { sum = made() + n; });\n  t.join();\n  std::cout << sum << std::endl;\n  return sum != 43;\n}\n' > src/main.cc
cmake -G Ninja -S src -B build -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$1/out" | grep -c 'done'
ninja -C build | tail -1 | cut -c1-60
ctest --test-dir build 2>&1 | grep -E 'Passed|tests passed' | without_times
cmake --install build | sed "s,$1,WORK,"
LD_LIBRARY_PATH=out/lib out/bin/prog 1
cmake -G 'Unix Makefiles' -S src -B make >/dev/null && make -s -C make 2>&1 | tail -1
