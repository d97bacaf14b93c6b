#pragma once

#include <optional>
#include <string>
#include <vector>

namespace aasm::cli {

// What docs/spec/product.md section 8 names and this version does not build, refused in words of
// its own: one line for the first such word of `args` (without the program's own), else nullopt.
std::optional<std::string> not_built_yet(const std::vector<std::string>& args);

// For an option whose value is one of a few: which these are. Empty for any other message.
std::string choices_for(const std::string& parser_message);

}  // namespace aasm::cli
