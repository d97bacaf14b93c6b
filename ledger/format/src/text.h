#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aasm/schema/result.h"

// Pieces that several of the text formats share.
namespace aasm::ledger_format::detail {

// The one decimal spelling of a number: digits only, no leading zero unless it is "0", at most
// 2^64-1. nullopt for any other.
std::optional<std::uint64_t> parse_decimal(std::string_view text);

// Takes the bytes before the next newline off the front of `rest`, and the newline. nullopt, with
// `rest` unchanged, when there is no newline.
std::optional<std::string_view> take_line(std::string_view& rest);

// The words of a line, separated by runs of space and tab; none for a blank line.
std::vector<std::string_view> split_words(std::string_view line);

schema::Error malformed(std::string message);
schema::Error invalid(std::string message);

// "line <number>: <message>"
schema::Error at_line(std::size_t number, std::string_view message);

}  // namespace aasm::ledger_format::detail
