#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "aasm/ledger_format/merkle.h"
#include "aasm/ledger_format/note.h"
#include "aasm/ledger_format/vkey.h"
#include "aasm/schema/digest.h"
#include "aasm/schema/result.h"

#include "ledger_db.h"

namespace aasm::ledger {

// Neighbouring checkpoint sizes differ by at most this (docs/spec/ledger-format.md section 6).
inline constexpr std::uint64_t kCheckpointEvery = 256;

// The end of the log as one writer knows it.
struct Head {
  ledger_format::CompactRange range;  // over every record
  schema::LeafHash last_leaf;
  std::uint64_t checkpoint_size = 0;  // of the newest checkpoint
  std::string note;                   // its bytes

  bool has_tail() const { return checkpoint_size < range.size(); }
};

using RowVisitor = std::function<schema::Result<void>(const RecordRow& row)>;
// The log key in force once the rows were visited.
using LogInForce = std::function<schema::Result<const ledger_format::VerifierKey*>()>;

// Whether `log` signed the note that `bytes` hold. `verified` are the bytes of a note already found
// to be signed by it (or just signed with it), or nothing: a signature is over bytes, so the same
// bytes need no second check, and any other bytes get one.
bool is_signed_by(const ledger_format::VerifierKey& log, const ledger_format::Note& note,
                  std::string_view bytes, std::string_view verified);

// The head from the newest checkpoint's frontier, checked against its signed note, plus the leaves
// after it. Call inside a transaction. kIntegrity when they do not fit together, or when more
// records follow than the cadence allows: so the cost is bounded whatever the file holds.
// `verified` as for is_signed_by().
schema::Result<Head> load_head(LedgerDb& db, const ledger_format::VerifierKey& log,
                               std::string_view verified = {});

// Brings `head` up to date with what other writers appended since, checking every new link, leaf
// and the newest checkpoint, and showing each new row to `visit`. What `head` knows must still be
// there: kIntegrity otherwise. Two queries when nothing is new. Call inside a transaction; `head`
// is unchanged on failure.
schema::Result<void> refresh_head(LedgerDb& db, const LogInForce& log_in_force, Head& head,
                                  const RowVisitor& visit);

// Compares the ledger with the note of the head file: kIntegrity when the ledger is behind it or
// has another tree.
schema::Result<void> check_not_behind(LedgerDb& db, const Head& head,
                                      const ledger_format::Checkpoint& released);

}  // namespace aasm::ledger
