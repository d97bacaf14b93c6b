#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "aasm/process/fd.h"
#include "aasm/verifier/verifier.h"

#include "options.h"

// The process that reads the hostile file, and the one message that it sends.
namespace aasm::cli {

// What `aasm verify` says, and what it remembers under --state.
struct Verified {
  int status = 0;
  std::string text;  // for stdout
  std::optional<std::string> new_state;
  std::optional<std::string> fork_note;  // as of verifier::VerifyReport; never with new_state
  bool file_refused = false;             // as of verifier::VerifyReport
};

// The report in the format asked for.
Verified render(const verifier::VerifyReport& report, Format format);

// Exit status of a child that ran out of the memory it may have; none of a verdict.
inline constexpr int kExitOutOfMemory = 75;

// In a new child, which has one thread: limits and confines this process to the target and to the
// directory `scratch` (if valid), verifies, writes the message to `out` and exits with the
// verdict's status. Whatever else was open is closed; stdin and stdout become `out`, and stderr
// stays for the progress.
[[noreturn]] void run_verify_child(verifier::VerifyRequest request, Format format,
                                   process::BorrowedFd scratch, process::BorrowedFd out);

// The message of a child that exited with `status`; none when it is cut short.
std::optional<Verified> read_message(std::string_view message, int status);

}  // namespace aasm::cli
