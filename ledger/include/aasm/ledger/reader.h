#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "aasm/crypto/ed25519.h"
#include "aasm/ledger_format/envelope.h"
#include "aasm/schema/activity_vocabulary.h"
#include "aasm/schema/digest.h"
#include "aasm/schema/path_bytes.h"
#include "aasm/schema/result.h"
#include "aasm/schema/uuid.h"

namespace aasm::ledger {

// One record as stored. `leaf` was recomputed from the payload and agrees with its column; nothing
// else has been verified.
struct StoredRecord {
  std::uint64_t seq = 0;
  schema::LeafHash leaf;
  std::string payload;
  schema::KeyId key;
  crypto::Signature signature{};
  ledger_format::Statement statement;  // envelope and body
};

struct StoredCheckpoint {
  std::uint64_t size = 0;
  std::string note;
};

struct RunSummary {
  schema::RunId run;
  std::int64_t opened_wall_ns = 0;
  schema::PathBytes program;
  std::string agent_id;
  std::uint64_t opened_seq = 0;
  std::optional<std::uint64_t> end_seq;     // of run.closed or run.recovered; none while open
  std::optional<schema::RunEnding> ending;  // as run.closed says
  bool recovered = false;
};

struct LedgerStatus {
  std::string origin;  // as record 0 says
  std::uint64_t records = 0;
  std::uint64_t checkpoints = 0;
  std::uint64_t blobs = 0;
  std::optional<StoredCheckpoint> newest_checkpoint;
  // Records that no checkpoint covers yet.
  std::uint64_t tail = 0;
};

// Reads a ledger for display and for making receipts. What it returns is NOT verified: it is what
// the file says (`aasm verify` is the one who judges). Each call reads a consistent snapshot,
// beside any writers. Owned by one thread at a time. A row that does not parse is kIntegrity.
class LedgerReader {
 public:
  // kNotFound without a file, kMalformed when it is no ledger, kUnsupported for a newer schema,
  // kIntegrity for another schema.
  static schema::Result<LedgerReader> open(const std::string& path);

  ~LedgerReader();
  LedgerReader(LedgerReader&&) noexcept;
  LedgerReader& operator=(LedgerReader&&) noexcept;
  LedgerReader(const LedgerReader&) = delete;
  LedgerReader& operator=(const LedgerReader&) = delete;

  schema::Result<LedgerStatus> status();

  // kNotFound past the end.
  schema::Result<StoredRecord> record(std::uint64_t seq);

  // The newest `limit` runs, newest first. Reads the ledger backwards until it has them.
  schema::Result<std::vector<RunSummary>> runs(std::size_t limit);
  // kNotFound when the ledger has no such run.
  schema::Result<RunSummary> run(const schema::RunId& run);
  // Every record of a run, in order, until `visit` fails. kNotFound when there is none.
  schema::Result<void> visit_run(
      const schema::RunId& run,
      const std::function<schema::Result<void>(const StoredRecord&)>& visit);

  // The numbers of the key.* records below `size`, in order. From the list that the writer keeps in
  // heads/ when it is there, else by looking at every record.
  schema::Result<std::vector<std::uint64_t>> key_records(std::uint64_t size);

  schema::Result<std::optional<StoredCheckpoint>> newest_checkpoint();
  // The smallest checkpoint of at least this size.
  schema::Result<std::optional<StoredCheckpoint>> checkpoint_covering(std::uint64_t size);

  // Leaf hashes of records [begin, end), from the leaf column. kNotFound when one is missing.
  schema::Result<std::vector<schema::LeafHash>> leaves(std::uint64_t begin, std::uint64_t end);
  // The hash of the perfect subtree over [begin, end) when a stored frontier has it; a hint that
  // only a comparison with a signed root makes good. Frontiers hold left subtrees only.
  schema::Result<std::optional<schema::TreeHash>> subtree(std::uint64_t begin, std::uint64_t end);

 private:
  struct State;
  explicit LedgerReader(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace aasm::ledger
