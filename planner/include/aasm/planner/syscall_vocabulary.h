#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace aasm::planner {

// The system calls and groups of calls a policy may name. A backend owns the table; the planner
// only asks, so that an unknown name is an error of the document and not a filter that does
// nothing. Const access from any thread.
class SyscallVocabulary {
 public:
  SyscallVocabulary() = default;
  SyscallVocabulary(const SyscallVocabulary&) = delete;
  SyscallVocabulary& operator=(const SyscallVocabulary&) = delete;
  virtual ~SyscallVocabulary() = default;

  virtual bool known_name(std::string_view name) const = 0;    // "openat"
  virtual bool known_group(std::string_view group) const = 0;  // "@default", with its @

  // The calls of a group; none for one that is not known.
  virtual std::vector<std::string> members(std::string_view group) const = 0;

  // What a program that is linked at run time calls before its main, so that it does not start
  // where one of them is refused. A lower bound. May be empty.
  virtual std::vector<std::string> start_calls() const { return {}; }

  // Names and groups to pick a suggestion from when one is unknown. May be empty: then messages
  // carry no suggestion.
  virtual std::vector<std::string> suggestions() const { return {}; }
};

}  // namespace aasm::planner
