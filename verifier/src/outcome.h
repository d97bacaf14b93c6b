#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "aasm/schema/digest.h"
#include "aasm/schema/json_value.h"

#include "finding_log.h"
#include "snapshot.h"

// What the checks add up to; report_json.h and report_text.h print it. Its size does not depend on
// the length of the ledger.
namespace aasm::verifier {

inline constexpr std::size_t kMaxListedRuns = 100;

struct TrustOutcome {
  bool judged = false;  // a first record was read
  bool pinned = false;  // root and log key are those of the trust set
  std::string origin;
  std::optional<schema::KeyId> root;
  std::optional<schema::KeyId> host;
  std::optional<schema::KeyId> log;
};

// One note from elsewhere that the file was compared with.
struct ComparedNote {
  std::string source;  // "heads", "state", "expect-head"
  std::uint64_t size = 0;
  bool agreed = false;
};

// A list that is kept short: the newest names and how many there were.
struct NameList {
  std::uint64_t count = 0;
  std::deque<std::string> newest;

  void add(const std::string& name) {
    ++count;
    newest.push_back(name);
    if (newest.size() > kMaxListedRuns) {
      newest.pop_front();
    }
  }
};

struct Coverage {
  std::uint64_t records = 0;
  std::uint64_t skipped = 0;
  std::uint64_t checkpoints = 0;
  std::uint64_t signed_up_to = 0;     // size of the newest checkpoint that agreed
  std::uint64_t witnessed_up_to = 0;  // of the newest with the quorum of the trust file
  std::uint64_t anchors = 0;          // rows, none evaluated
  std::uint64_t runs = 0;
  std::uint64_t closed = 0;
  NameList interrupted;
  NameList unfinished;
  std::uint64_t blobs = 0;
  std::uint64_t blobs_withheld = 0;
  std::int64_t dropped_events = 0;  // of runs in scope
  std::uint64_t clock_steps = 0;
  std::vector<ComparedNote> compared;
};

// The claims of one run, ready to print.
struct RunOutcome {
  std::string id;
  std::int64_t opened_seq = -1;
  std::int64_t last_seq = -1;
  std::string state;  // a token of claims::RunState, or "unfinished"
  std::string posture;
  bool has_claims = false;
  std::vector<std::string> lines;  // one a domain, for a person
  std::string human;               // the whole report; only when one run is the scope
  schema::JsonValue json;          // aasm.isolation.report/1, null when left out
  std::size_t json_bytes = 0;
};

struct RunsOutcome {
  std::uint64_t in_scope = 0;
  std::map<std::string, std::uint64_t> by_state;
  std::deque<RunOutcome> newest;
};

// What a receipt says, once its signatures and paths check. Recorded, not recomputed.
struct ReceiptOutcome {
  std::uint64_t index = 0;
  std::uint64_t tree_size = 0;
  std::string run;
  std::string agent;
  std::string program;
  std::string isolation;
  std::string ending;
  bool program_started = false;
  std::int64_t records = 0;
  std::int64_t events = 0;
  std::int64_t actions = 0;
  std::int64_t dropped = 0;
};

struct Outcome {
  FindingLog findings;
  std::string target_kind = "unknown";  // ledger, receipt
  std::vector<CopiedFile> files;
  int copy_attempts = 0;
  TrustOutcome trust;
  Coverage coverage;
  RunsOutcome runs;
  std::optional<ReceiptOutcome> receipt;
  std::string newest_note;   // the newest checkpoint that agreed; empty when there is none
  std::string receipt_note;  // a receipt's, when the log key has signed it
};

}  // namespace aasm::verifier
