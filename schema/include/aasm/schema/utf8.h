#pragma once

#include <string>
#include <string_view>

namespace aasm::schema {

// True for well-formed UTF-8 (Unicode 15, table 3-7): no overlong forms, surrogates or values
// past U+10FFFF. Empty text is valid.
bool is_valid_utf8(std::string_view bytes);

// `text` made safe for a terminal or a one-line field: C0, C1 and DEL, bidirectional controls,
// line and paragraph separators, characters that show nothing (zero width space, soft hyphen,
// byte order mark, tags; the joiners U+200C and U+200D stay) and invalid UTF-8 bytes become visible
// escapes (\n, \x1b, \u{202e}); a backslash becomes "\\". The result is valid UTF-8 without a
// newline, and two different texts never give the same result.
std::string escape_for_display(std::string_view text);

}  // namespace aasm::schema
