#pragma once

#include <string>
#include <vector>

namespace aasm::cli {

// What the part of the command line that was understood could have gone on with.
struct KnownWords {
  std::vector<std::string> commands;  // below the last command that was understood
  std::vector<std::string> options;   // of it, "--policy"
};

// "; did you mean `aasm run exec -- ls`?" for a command line that was not understood: the next
// command to type, as far as it can be told. `args` without the program's name. Else what is known
// there; else nothing.
std::string near_miss(const std::vector<std::string>& args, const KnownWords& known);

}  // namespace aasm::cli
