#pragma once

#include <functional>
#include <string>

namespace aasm::test {

// Runs `body` in a forked child and yields what it returned: an empty text for "all is well". With
// `as_nobody` the child first becomes uid and gid 65534 without groups, when it is root. A child
// that dies or hangs is a failure that says so.
std::string run_in_child(bool as_nobody, const std::function<std::string()>& body);

}  // namespace aasm::test

// In a body for run_in_child(): ends it with the place and the condition when that does not hold.
#define AASM_CHILD_CHECK(condition, detail)                                                  \
  do {                                                                                       \
    if (!(condition)) {                                                                      \
      return std::string(__FILE__) + ":" + std::to_string(__LINE__) + ": " #condition ": " + \
             (detail);                                                                       \
    }                                                                                        \
  } while (false)
