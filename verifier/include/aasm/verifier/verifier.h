#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aasm/ledger_format/trust.h"
#include "aasm/schema/json_value.h"
#include "aasm/schema/result.h"

// Recomputes what a ledger or a receipt says, trusting nothing in it (docs/spec/ledger-format.md
// sections 9 and 10). Read-only; opens no socket; needs no private key.
namespace aasm::verifier {

// In the order of precedence: the first that applies is the verdict.
enum class Verdict : std::uint8_t { kFailed, kUnreadable, kInconclusive, kVerified };
std::string_view to_string(Verdict verdict);  // "FAILED", ...
int exit_status(Verdict verdict);             // 1, 4, 3, 0

// What kind of verdict a finding forces.
enum class Weight : std::uint8_t { kFails, kUnreadable, kInconclusive, kNotice };

// One thing found, with a closed code ("bad_signature", "prev_mismatch", "tail_unsigned"). `seq` is
// -1 when it is about no single record. Texts are escaped and hold no raw bytes of the file.
struct Finding {
  std::string code;
  Weight weight = Weight::kNotice;
  std::int64_t seq = -1;
  std::string expected;
  std::string actual;
  std::string detail;
};

// How the process that verifies has confined itself: for the report, no check rests on it.
struct Confinement {
  int landlock_abi = 0;  // 0: not by Landlock
  bool filter = false;   // by a seccomp filter
  std::string text = "not confined: not asked for";
};

// A file of heads/: what this host released last for an origin.
struct HeadNote {
  std::string name;  // SHA-256 of the origin in hex, which is the file's name
  std::string note;
};

// What to verify, and by what trust. All bytes are given by the caller but the target's own.
struct VerifyRequest {
  std::string target;  // path of a ledger or a receipt
  ledger_format::TrustSet trust;
  bool explicit_trust = false;  // --trust was given: an unknown origin is FAILED
  std::string trust_source;     // for the report: where the trust set came from
  std::string run;              // a run id or unique prefix; empty: the whole file
  bool require_close = false;
  bool allow_open = false;
  // This host's heads/ files, read before the copy: those of pinned origins, and all when no origin
  // is pinned and the target is this host's own. Those of other origins than the file's are left
  // alone.
  std::vector<HeadNote> head_notes;
  // The target is this host's own ledger by its path: then all of `head_notes` count when none is
  // of the file's origin.
  bool own_ledger = false;
  std::optional<std::string> expect_head;   // --expect-head
  std::optional<std::string> state;         // content of the --state file
  std::optional<std::string> given_report;  // --report: a JSON isolation report to compare
  int threads = 0;                          // 0: as many as there are cores
  // How large the target's files may be together; 0: 4 GiB. Larger ones are not read.
  std::uint64_t max_bytes = 0;
  std::string scratch;  // where the private copy goes; empty: $TMPDIR, else /tmp
  Confinement confinement;
  // Called now and then with records done and in all; may be empty.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;
};

// The report aasm.verify-report/1. The verdict is a total function of its findings.
struct VerifyReport {
  Verdict verdict = Verdict::kUnreadable;
  schema::JsonValue json;  // the whole report
  std::string text;        // for a person, escaped
  // A file of the target could not be opened. A process that is confined to files, and not to
  // names, sees that also of a file that a writer made since: it is worth another try.
  bool file_refused = false;
  std::optional<std::string>
      new_state;  // note to write to --state: only when VERIFIED and size > 0
  // What the file's log signed last, when a note from elsewhere shows another history: with that
  // note the proof that two were signed.
  std::optional<std::string> fork_note;
};

// Never fails as such: what cannot be read is a verdict.
VerifyReport verify(const VerifyRequest& request);

// Why a verification ended without a verdict of its own.
enum class Stopped : std::uint8_t { kByLimit, kByFault };

// The report (UNREADABLE) of a verification that its caller had to end, or that ended by itself: a
// deadline, too much memory, a fault. `detail` is one sentence.
VerifyReport stopped_report(const VerifyRequest& request, Stopped why, const std::string& detail);

}  // namespace aasm::verifier
