#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aasm/ledger_format/note.h"
#include "aasm/ledger_format/vkey.h"
#include "aasm/schema/result.h"

// heads/<sha256 hex of origin>: the newest released checkpoint note of an origin
// (docs/spec/ledger-format.md rule 4.5). It may lag behind the ledger and never leads it.
namespace aasm::ledger {

// The file's name inside heads/.
std::string head_file_name(std::string_view origin);

struct ReleasedHead {
  ledger_format::Checkpoint checkpoint;
  std::string note;  // the bytes that were verified
};

// The note, verified with `log`; nullopt when there is no such file or directory, or the file is
// empty (a rename that a power cut left without content: the head then lags, which is allowed).
// kIntegrity when the note does not verify; kMalformed when it is none.
// `older` are the log keys that the ledger had before `log`: the note may still be one of theirs.
schema::Result<std::optional<ReleasedHead>> read_head_file(
    const std::string& directory, const ledger_format::VerifierKey& log,
    const std::vector<ledger_format::VerifierKey>& older = {});

// Puts `note` (of tree size `size`) there unless a larger or equal one stands there, under a lock
// against other writers. Call it only after the note's transaction was committed. `verified` are
// the bytes of a note that `log` was already found to have signed, or nothing.
schema::Result<void> release_head(const std::string& directory,
                                  const ledger_format::VerifierKey& log, std::uint64_t size,
                                  std::string_view note, std::string_view verified = {},
                                  const std::vector<ledger_format::VerifierKey>& older = {});

}  // namespace aasm::ledger
