#pragma once

#include <string>
#include <vector>

#include "aasm/schema/result.h"
#include "aasm/verifier/verifier.h"

namespace aasm::cli {

// A note and where it comes from: "file", "heads", "state", "expect-head".
struct SourcedNote {
  std::string source;
  std::string note;
};

// The notes that a forked file was compared with, and its own.
std::vector<SourcedNote> notes_of_fork(const verifier::VerifyRequest& request,
                                       const std::string& own);

// Writes each into `directory`, which is made when it is not there, as
// fork-SOURCE-<first 16 hex of its SHA-256>.note: so no other note is ever written over. Returns
// the paths.
schema::Result<std::vector<std::string>> keep_notes(const std::string& directory,
                                                    const std::vector<SourcedNote>& notes);

}  // namespace aasm::cli
