#include "aasm/ledger/store.h"

#include <utility>
#include <variant>

#include "aasm/ledger_format/envelope.h"
#include "aasm/schema/fields.h"
#include "aasm/schema/record_ledger.h"

#include "append.h"
#include "boot_id.h"
#include "head.h"
#include "head_file.h"
#include "key_history.h"
#include "key_limits.h"
#include "key_slots.h"
#include "ledger_db.h"
#include "recovery.h"
#include "reserve.h"
#include "run_states.h"
#include "signal_block.h"

namespace aasm::ledger {

using ledger_format::KeyPurpose;
using ledger_format::VerifierKey;
using schema::Error;
using schema::ErrorCode;
using schema::Result;

struct Store::State {
  LedgerPaths paths;
  KeySet keys;
  StoreOptions options;
  VerifierKey log;
  std::string boot;
  LedgerDb db;
  Head head;
  RunStates runs;
  KeyHistory history;
  // db.version() when `head` and `runs` were what the file says, while that is so.
  std::optional<std::int64_t> seen = {};
  std::optional<std::string> standing = {};  // what heads/ holds while the newest note waits for it

  void step(AppendStep step) const {
    if (options.on_step) {
      options.on_step(step);
    }
  }
  // Lets `appender` see what other writers appended. Returns what commit() wants to know.
  Result<std::int64_t> refresh(Appender& appender);
  // Commits `appender`'s work and takes its state over.
  Result<Appended> commit(sqlite::Transaction transaction, Appender appender, std::int64_t version,
                          std::uint64_t first_seq);
  // Brings heads/ up to date.
  Result<void> release();
};

namespace {

// Takes for each purpose the key that the ledger has in force, from the key files when the one at
// hand is another: a rotation may have come since it was loaded.
Result<void> take_keys(const std::string& directory, const KeyHistory& history, KeySet& keys) {
  const KeyIntroduction& host = history.in_force(KeyPurpose::kHost);
  if (keys.host.public_key() != host.key) {
    keys.host = AASM_TRY(load_key_in_force(directory, keys.origin, host));
  }
  const KeyIntroduction& log = history.in_force(KeyPurpose::kLog);
  if (keys.log.public_key() != log.key) {
    keys.log = AASM_TRY(load_key_in_force(directory, keys.origin, log));
  }
  return {};
}

// What the kept history cannot say: that the file is still the ledger it was made from.
Result<void> check_record_zero(LedgerDb& db, const std::string& origin) {
  const auto check = [&origin](const RecordRow& row) -> Result<void> {
    const auto parsed = ledger_format::parse_payload(row.payload);
    const auto* statement = std::get_if<ledger_format::Statement>(&parsed);
    if (statement == nullptr || statement->envelope.kind != "ledger.created") {
      return Error(ErrorCode::kIntegrity, "record 0 is not ledger.created");
    }
    return statement->envelope.origin == origin
               ? Result<void>()
               : Error(ErrorCode::kIntegrity, "the ledger belongs to other keys");
  };
  return AASM_TRY(db.visit_record(0, check))
             ? Result<void>()
             : Error(ErrorCode::kIntegrity, "the ledger has no record 0");
}

struct FoundHistory {
  KeyHistory history;
  bool kept = false;  // read from heads/, else by scanning
};

// The history of a ledger of `origin`.
Result<FoundHistory> history_of(LedgerDb& db, const LedgerPaths& paths, const std::string& origin) {
  if (std::optional<KeyHistory> kept = KeyHistory::kept(paths.heads, origin)) {
    return FoundHistory{std::move(*kept), true};
  }
  KeyHistory history = AASM_TRY(KeyHistory::scan(db));
  if (history.origin() != origin) {
    return Error(ErrorCode::kIntegrity, "the ledger belongs to other keys");
  }
  return FoundHistory{std::move(history), false};
}

}  // namespace

Store::Store(std::unique_ptr<State> state) : state_(std::move(state)) {}
Store::~Store() = default;
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;

const std::string& Store::origin() const {
  return state_->keys.origin;
}
const crypto::SigningKey& Store::host_key() const {
  return state_->keys.host;
}
std::uint64_t Store::size() const {
  return state_->head.range.size();
}
const std::string& Store::newest_checkpoint() const {
  return state_->head.note;
}

Result<Store> Store::open(const LedgerPaths& paths, KeySet keys, StoreOptions options) {
  // Shared because a std::function must be copyable; it runs once.
  const auto held = std::make_shared<KeySet>(std::move(keys));
  return open(
      paths, [held]() -> Result<KeySet> { return std::move(*held); }, std::move(options));
}

Result<Store> Store::open(const LedgerPaths& paths, const KeyLoader& load_keys,
                          StoreOptions options) {
  LedgerDb db = AASM_TRY_CONTEXT(LedgerDb::open(paths.ledger), "opening the ledger");
  if (options.on_readable) {
    options.on_readable();
  }
  KeySet keys = AASM_TRY(load_keys());
  const KeyHistory before = AASM_TRY(history_of(db, paths, keys.origin)).history;
  VerifierKey log = AASM_TRY(before.log());
  // Before the transaction: a note released in between would look like a rolled-back ledger.
  const auto released = AASM_TRY(read_head_file(paths.heads, log, before.older_logs()));
  AASM_TRY(ensure_reserve(paths.ledger));
  std::string boot = AASM_TRY(read_boot_id());
  Recovery recovery = AASM_TRY(Recovery::prepare(paths.runs, keys.origin, boot));

  const SignalBlock block;
  sqlite::Transaction transaction = AASM_TRY_CONTEXT(db.begin(), "locking the ledger");
  AASM_TRY(check_record_zero(db, keys.origin));
  auto [history, kept] = AASM_TRY(history_of(db, paths, keys.origin));
  if (history != before) {
    return Error(ErrorCode::kUnavailable, "a key was changed just now: try again");
  }
  AASM_TRY(check_not_closed(db, history));
  AASM_TRY(take_keys(paths.keys, history, keys));
  // A note that was verified may be an older log key's, and then says nothing about this one.
  const bool by_log = released && history.older_logs().empty();
  Head head = AASM_TRY(load_head(db, log, by_log ? released->note : std::string()));
  if (released) {
    AASM_TRY(check_not_behind(db, head, released->checkpoint));
  }
  if (!kept) {
    history.keep(paths.heads);
  }
  auto state = std::make_unique<State>(State{paths, std::move(keys), std::move(options),
                                             std::move(log), std::move(boot), std::move(db),
                                             std::move(head), RunStates{}, std::move(history)});
  Appender appender(state->db, state->keys, state->boot, state->options, state->head, state->runs);
  if (state->head.has_tail()) {
    AASM_TRY(appender.add_checkpoint());
  }
  AASM_TRY_CONTEXT(recovery.append(state->db, state->keys.host, appender), "recovering runs");
  const std::int64_t version = AASM_TRY(state->db.version());
  if (appender.checkpointed()) {
    AASM_TRY(state->commit(std::move(transaction), std::move(appender), version, 0));
    static_cast<void>(state->release());  // a file that lags is brought up by the next
  }
  state->seen = version;
  recovery.finish();
  return Store(std::move(state));
}

Result<std::int64_t> Store::State::refresh(Appender& appender) {
  const std::int64_t version = AASM_TRY(db.version());
  if (std::exchange(seen, std::nullopt) == version) {
    return version;
  }
  const auto observe = [&](const RecordRow& row) -> Result<void> {
    AASM_TRY(history.follow(row));
    appender.runs().observe(row.payload);
    return {};
  };
  const auto log_in_force = [&]() -> Result<const VerifierKey*> {
    if (history.has_change()) {
      AASM_TRY_CONTEXT(take_keys(paths.keys, history, keys), "a key was changed");
      log = AASM_TRY(history.log());
      history.settle();
    }
    return &log;
  };
  AASM_TRY_CONTEXT(refresh_head(db, log_in_force, appender.head(), observe),
                   "reading the ledger's head");
  return version;
}

Result<Appended> Store::State::commit(sqlite::Transaction transaction, Appender appender,
                                      std::int64_t version, std::uint64_t first_seq) {
  step(AppendStep::kBeforeCommit);
  AASM_TRY_CONTEXT(transaction.commit(), "committing to the ledger");
  std::string before = std::exchange(head, std::move(appender.head())).note;
  runs = std::move(appender.runs());
  seen = version;
  db.fold_large_wal();
  step(AppendStep::kCommitted);
  if (appender.checkpointed() && !standing) {
    standing = std::move(before);
  }
  return Appended{first_seq, appender.leaves(), head.note, head.checkpoint_size, std::nullopt};
}

Result<void> Store::State::release() {
  if (!standing) {
    return {};
  }
  Result<void> released =
      release_head(paths.heads, log, head.checkpoint_size, head.note,
                   *std::exchange(standing, std::nullopt), history.older_logs());
  step(AppendStep::kHeadReleased);
  return released;
}

Result<void> Store::release() {
  return state_->release();
}

Result<Appended> Store::append(std::span<const PendingRecord> records,
                               std::span<const PendingBlob> blobs) {
  Appended done = AASM_TRY(append_durably(records, blobs));
  if (Result<void> released = release(); !released) {
    done.head_lag = std::move(released).error();
  }
  return done;
}

Result<Appended> Store::append_durably(std::span<const PendingRecord> records,
                                       std::span<const PendingBlob> blobs) {
  Result<Appended> done = append_once(records, blobs);
  if (!done && is_disk_full(done.error()) && free_reserve(state_->paths.ledger)) {
    done = append_once(records, blobs);
    if (done) {
      done->reserve_used = true;
    }
  }
  return done;
}

Result<Appended> Store::append_once(std::span<const PendingRecord> records,
                                    std::span<const PendingBlob> blobs) {
  State& state = *state_;
  const SignalBlock block;
  sqlite::Transaction transaction = AASM_TRY_CONTEXT(state.db.begin(), "locking the ledger");
  state.step(AppendStep::kBegun);
  Appender appender(state.db, state.keys, state.boot, state.options, state.head, state.runs);
  const std::int64_t version = AASM_TRY(state.refresh(appender));
  state.step(AppendStep::kHeadRead);
  const std::uint64_t first_seq = appender.head().range.size();
  for (const PendingBlob& blob : blobs) {
    AASM_TRY(appender.add(blob));
  }
  for (const PendingRecord& record : records) {
    AASM_TRY_CONTEXT(appender.add(record), "appending " + record.kind);
  }
  return state.commit(std::move(transaction), std::move(appender), version, first_seq);
}

void Store::seal_ahead(PendingRecord& record, std::optional<Place>& place) const {
  const State& state = *state_;
  if (!place) {
    place = Place{state.head.range.size(), state.head.last_leaf};
  }
  Result<SealedRecord> sealed = seal(record, *place, state.keys.origin, state.boot);
  if (sealed) {
    place = Place{place->seq + 1, sealed->leaf};
    record.ahead = std::move(*sealed);
  }
}

Result<std::string> Store::checkpoint() {
  State& state = *state_;
  const SignalBlock block;
  sqlite::Transaction transaction = AASM_TRY_CONTEXT(state.db.begin(), "locking the ledger");
  Appender appender(state.db, state.keys, state.boot, state.options, state.head, state.runs);
  const std::int64_t version = AASM_TRY(state.refresh(appender));
  if (!appender.head().has_tail()) {
    return state.head.note = appender.head().note;
  }
  AASM_TRY(appender.add_checkpoint());
  std::string note =
      AASM_TRY(state.commit(std::move(transaction), std::move(appender), version, 0)).checkpoint;
  static_cast<void>(state.release());  // as when opening
  return note;
}

}  // namespace aasm::ledger
