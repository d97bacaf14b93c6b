#include <system_error>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "aasm/crypto/hash.h"
#include "aasm/ledger_format/note.h"
#include "aasm/ledger_format/trust.h"
#include "aasm/verifier/verifier.h"

#include "commands.h"
#include "exit_status.h"
#include "files.h"
#include "fork_notes.h"
#include "home.h"
#include "output_file.h"
#include "print.h"
#include "progress.h"
#include "runs_reader.h"
#include "verify_process.h"

namespace aasm::cli {
namespace {

using schema::ErrorCode;
using schema::Result;

constexpr std::size_t kMaxSmallFile = std::size_t{4} << 20U;
constexpr std::size_t kMaxHeads = 256;

// What is needed besides the target's own bytes; any failure here is a usage error.
Result<void> load_trust(const VerifyCommand& command, const Home& home,
                        verifier::VerifyRequest& request) {
  request.explicit_trust = !command.common.trust.empty();
  const std::string trust = request.explicit_trust ? command.common.trust : home.trust();
  const std::string keys = request.explicit_trust ? trust + ".keys" : home.trust_keys();
  request.trust_source = trust;
  // What is named on the command line is believed as named; the default is looked at first.
  const auto read = request.explicit_trust ? read_small_file : read_own_file;
  Result<std::string> policy = read(trust, ledger_format::kTrustMaxBytes);
  if (!policy) {
    if (!request.explicit_trust && policy.error().code() == ErrorCode::kNotFound) {
      request.trust_source = "none";
      return {};
    }
    return std::move(policy).error();
  }
  request.trust.policy =
      AASM_TRY_CONTEXT(ledger_format::parse_trust_policy(*policy), "trust file " + trust);
  const std::string key_text = AASM_TRY(read(keys, ledger_format::kTrustMaxBytes));
  request.trust.keys =
      AASM_TRY_CONTEXT(ledger_format::parse_trust_keys(key_text), "trust file " + keys);
  return {};
}

Result<std::optional<std::string>> optional_file(const std::string& path, bool must_exist) {
  if (path.empty()) {
    return std::optional<std::string>();
  }
  Result<std::string> content = read_small_file(path, kMaxSmallFile);
  if (!content && content.error().code() == ErrorCode::kNotFound && !must_exist) {
    return std::optional<std::string>();
  }
  return std::optional<std::string>(AASM_TRY(std::move(content)));
}

bool is_head_name(const std::string& name) {
  return name.size() == 64 && name.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// Names of the head files that may say something about the target: those of pinned origins; of the
// host's own ledger, when nothing pins an origin, all.
std::vector<std::string> head_names(const Home& home, const verifier::VerifyRequest& request) {
  std::vector<std::string> names;
  for (const ledger_format::TrustedRoot& root : request.trust.keys.roots) {
    names.push_back(crypto::sha256(schema::as_bytes(root.origin)).hex());
  }
  if (!names.empty() || !request.own_ledger) {
    return names;
  }
  std::error_code error;
  std::filesystem::directory_iterator entry(home.heads(), error);
  for (; !error && entry != std::filesystem::directory_iterator() && names.size() < kMaxHeads;
       entry.increment(error)) {
    if (std::string name = entry->path().filename().string(); is_head_name(name)) {
      names.push_back(std::move(name));
    }
  }
  return names;
}

// The newest notes that this host released, read before the target is copied.
std::vector<verifier::HeadNote> head_notes(const Home& home,
                                           const verifier::VerifyRequest& request) {
  std::vector<verifier::HeadNote> notes;
  for (std::string& name : head_names(home, request)) {
    Result<std::string> note = read_small_file(home.heads() + "/" + name, kMaxSmallFile);
    if (note) {
      notes.push_back({std::move(name), std::move(note).value()});
    }
  }
  return notes;
}

Result<verifier::VerifyRequest> build_request(const VerifyCommand& command) {
  const Home home = AASM_TRY(Home::locate());
  verifier::VerifyRequest request;
  request.target = command.target;
  if (request.target.empty()) {
    request.target = command.common.ledger.empty() ? home.ledger() : command.common.ledger;
  }
  AASM_TRY(load_trust(command, home, request));
  request.run = command.run;
  request.max_bytes = command.max_size;
  request.require_close = command.require_close;
  request.allow_open = command.allow_open;
  request.own_ledger = absolute_path(request.target) == home.ledger();
  request.head_notes = head_notes(home, request);
  request.expect_head = AASM_TRY(optional_file(command.expect_head, true));
  request.state = AASM_TRY(optional_file(command.state, false));
  request.given_report = AASM_TRY(optional_file(command.report, true));
  return request;
}

std::string kept_lines(const std::vector<std::string>& paths) {
  std::string lines;
  for (const std::string& path : paths) {
    lines += "kept " + schema::escape_for_display(path) + "\n";
  }
  return lines;
}

// Only on a terminal. The process that verifies writes it, for its parent may not wait for a
// terminal that takes no output: it keeps the deadline.
void show_progress_on_a_terminal(verifier::VerifyRequest& request) {
  if (isatty(STDERR_FILENO) == 0) {
    return;
  }
  request.progress = [line = ProgressLine(ProgressLine::Clock::now())](
                         std::uint64_t done, std::uint64_t total) mutable {
    if (const auto text = line.next(done, total, ProgressLine::Clock::now())) {
      print_err(*text);
    }
  };
}

}  // namespace

Result<VerifiedTree> require_verified(const CommonOptions& common) {
  VerifyCommand command;
  command.common = common;
  command.allow_open = true;
  const Verified verified =
      verify_confined(AASM_TRY(build_request(command)), Format::kText, std::chrono::seconds(0));
  if (verified.status != kExitOk) {
    return schema::Error(
        ErrorCode::kIntegrity,
        "nothing is learned from a ledger that does not verify:\n" + verified.text);
  }
  if (!verified.new_state) {
    return schema::Error(ErrorCode::kNotFound, "the ledger has no checkpoint yet");
  }
  const ledger_format::SignedCheckpoint signed_up_to =
      AASM_TRY(ledger_format::parse_signed_checkpoint(*verified.new_state));
  return VerifiedTree{signed_up_to.checkpoint.size, signed_up_to.checkpoint.root};
}

int run_verify(const VerifyCommand& command) {
  Result<verifier::VerifyRequest> request = build_request(command);
  if (!request) {
    print_err(error_line(request.error()));
    return kExitUsage;
  }
  show_progress_on_a_terminal(*request);
  const Verified verified = verify_confined(*request, command.common.format,
                                            std::chrono::seconds(command.deadline_seconds));
  const Result<void> said = write_out(verified.text);
  if (!said) {
    print_err(error_line(said.error()));
    return verified.status == kExitOk ? kExitUnreadable : verified.status;
  }
  if (!command.keep_notes.empty() && verified.fork_note) {
    const Result<std::vector<std::string>> kept =
        keep_notes(command.keep_notes, notes_of_fork(*request, *verified.fork_note));
    print_err(kept ? kept_lines(*kept) : error_line(kept.error()));
  }
  if (!command.state.empty() && verified.new_state) {
    Result<OutputFile> file = OutputFile::open(absolute_path(command.state));
    Result<void> done = file ? file->write(*verified.new_state) : Result<void>(file.error());
    if (!done) {
      print_err(error_line(done.error()));
      return kExitUnreadable;
    }
  }
  return verified.status;
}

}  // namespace aasm::cli
