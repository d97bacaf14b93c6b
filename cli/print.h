#pragma once

#include <string>
#include <string_view>

#include "aasm/schema/error.h"
#include "aasm/schema/json_value.h"
#include "aasm/schema/result.h"

namespace aasm::cli {

// Whole texts to stdout or stderr, all of it or nothing more after a failure (a closed pipe ends
// quietly: the exit status of the command stays what it is).
void print_out(std::string_view text);
void print_err(std::string_view text);
// As print_out, for an answer that nobody may believe to be written when it is not: anything but a
// reader that went away is an error.
schema::Result<void> write_out(std::string_view text);

// "error: <message>" with the system's word for os_errno when there is one, escaped, and a newline.
std::string error_line(const schema::Error& error);

// A JSON text and a newline. What a terminal acts on or does not show (C1, bidirectional controls
// and the like, wherever escape_for_display would replace it) is written as \uXXXX, which means the
// same.
std::string json_line(const schema::JsonValue& value);

// One such line on stdout.
void print_json(const schema::JsonValue& value);

// Nanoseconds since the epoch as "2026-01-02 03:04:05Z".
std::string short_time(std::int64_t wall_ns);

}  // namespace aasm::cli
