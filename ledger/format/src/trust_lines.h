#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "aasm/ledger_format/vkey.h"
#include "aasm/schema/result.h"

// The line syntax that both trust files share (c2sp.org/tlog-policy, "Policy file syntax").
namespace aasm::ledger_format::detail {

struct TrustLine {
  std::size_t number = 0;               // from 1
  std::vector<std::string_view> words;  // at least one; views into the file's text
};

// The lines that say something; blank ones and comments are left out. Refuses control characters
// other than tab and newline, a last line without newline, and files past kTrustMaxBytes.
schema::Result<std::vector<TrustLine>> split_trust_lines(std::string_view text);

// A vkey that must be of `type`. Errors carry the line number.
schema::Result<VerifierKey> parse_line_key(std::size_t number, std::string_view text,
                                           NoteKeyType type);

}  // namespace aasm::ledger_format::detail
