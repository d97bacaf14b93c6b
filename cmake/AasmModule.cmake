# aasm_add_module(NAME ledger [HEADER_DIR ledger] HEADERS a.h SOURCES a.cc DEPS aasm::schema PRIVATE_DEPS SQLite::SQLite3)
# HEADERS are relative to include/aasm/<HEADER_DIR or NAME>/, SOURCES to src/. A module
# sees only the include directories of the modules it names in DEPS, so an include
# against the arrows does not compile; and the arrows themselves are those of
# AasmLayers.cmake, or configuring stops.
# ADAPTERS are sources compiled with exceptions: the one file that wraps a throwing library.
function(aasm_add_module)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;HEADER_DIR" "HEADERS;SOURCES;ADAPTERS;DEPS;PRIVATE_DEPS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "aasm_add_module: unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()
  string(REGEX REPLACE "^backend_.*" "backend" layer "${arg_NAME}")
  if(NOT DEFINED AASM_LAYER_${layer})
    message(FATAL_ERROR "module ${arg_NAME} has no line in cmake/AasmLayers.cmake")
  endif()
  foreach(dep IN LISTS arg_DEPS arg_PRIVATE_DEPS)
    if(dep MATCHES "^aasm::(.*)$" AND NOT CMAKE_MATCH_1 IN_LIST AASM_LAYER_${layer})
      message(FATAL_ERROR "module ${arg_NAME} may not depend on ${CMAKE_MATCH_1}: see cmake/AasmLayers.cmake")
    endif()
  endforeach()
  if(NOT arg_HEADER_DIR)
    set(arg_HEADER_DIR ${arg_NAME})
  endif()
  list(TRANSFORM arg_HEADERS PREPEND "include/aasm/${arg_HEADER_DIR}/")
  list(TRANSFORM arg_SOURCES PREPEND "src/")
  list(TRANSFORM arg_ADAPTERS PREPEND "src/")
  add_library(aasm_${arg_NAME} STATIC)
  add_library(aasm::${arg_NAME} ALIAS aasm_${arg_NAME})
  target_sources(aasm_${arg_NAME} PRIVATE ${arg_SOURCES} ${arg_ADAPTERS}
    PUBLIC FILE_SET HEADERS BASE_DIRS include FILES ${arg_HEADERS})
  target_link_libraries(aasm_${arg_NAME}
    PUBLIC ${arg_DEPS} PRIVATE ${arg_PRIVATE_DEPS} $<BUILD_INTERFACE:aasm_flags>)
  target_compile_features(aasm_${arg_NAME} PUBLIC cxx_std_20)
  target_include_directories(aasm_${arg_NAME} PRIVATE src)
  # Library code never throws; only an adapter may meet a library that does.
  set_source_files_properties(${arg_SOURCES} PROPERTIES COMPILE_OPTIONS -fno-exceptions)
  # Every public header must compile on its own.
  set_target_properties(aasm_${arg_NAME} PROPERTIES
    EXPORT_NAME ${arg_NAME} VERIFY_INTERFACE_HEADER_SETS ON)
  set_property(GLOBAL APPEND PROPERTY AASM_MODULES aasm_${arg_NAME})
endfunction()

# aasm_add_test(NAME schema_test SOURCES ... DEPS ... LABELS unit)
# The label `threads` is for tests in which several threads of the library run: `scripts/test tsan`
# builds and runs them under the thread sanitizer.
# TIMEOUT (seconds, 120) is for those with a long form.
function(aasm_add_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;TIMEOUT" "SOURCES;DEPS;LABELS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "aasm_add_test: unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()
  add_executable(${arg_NAME} ${arg_SOURCES})
  target_link_libraries(${arg_NAME} PRIVATE ${arg_DEPS} GTest::gmock GTest::gtest_main aasm_flags)
  # Compiled for one run: the compiler's time is most of what a test costs. Later flags win.
  target_compile_options(${arg_NAME} PRIVATE
    $<$<BOOL:${aasm_sanitize_on}>:-O0> $<$<CONFIG:Release>:-Og>)
  target_compile_definitions(${arg_NAME} PRIVATE
    AASM_SOURCE_DIR="${PROJECT_SOURCE_DIR}" AASM_BINARY_DIR="${PROJECT_BINARY_DIR}")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  if("threads" IN_LIST arg_LABELS)
    set_property(GLOBAL APPEND PROPERTY AASM_THREADS_TESTS ${arg_NAME})
  endif()
  # gtest_discover_tests() passes on one word only, and ctest -L looks for a part of it.
  list(JOIN arg_LABELS "-" labels)
  gtest_discover_tests(${arg_NAME} DISCOVERY_TIMEOUT 60 PROPERTIES LABELS "${labels}" TIMEOUT ${arg_TIMEOUT})
endfunction()
