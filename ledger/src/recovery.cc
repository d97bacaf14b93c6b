#include "recovery.h"

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include "aasm/ledger_format/envelope.h"
#include "aasm/schema/record.h"

namespace aasm::ledger {
namespace {

using ledger_format::Statement;
using schema::Error;
using schema::ErrorCode;
using schema::Result;

// Canonical payloads spell a kind in one way only, so a byte search finds every candidate and
// spares parsing the rest.
bool may_open_or_end(std::string_view payload) {
  static constexpr std::array<std::string_view, 3> kKinds = {
      "\"kind\":\"run.opened\"", "\"kind\":\"run.closed\"", "\"kind\":\"run.recovered\""};
  return std::any_of(kKinds.begin(), kKinds.end(), [payload](std::string_view kind) {
    return payload.find(kind) != std::string_view::npos;
  });
}

Result<Statement> statement_of(const RecordRow& row) {
  auto parsed = ledger_format::parse_payload(row.payload);
  if (auto* statement = std::get_if<Statement>(&parsed)) {
    return std::move(*statement);
  }
  return Error(ErrorCode::kIntegrity,
               "record " + std::to_string(row.seq) + " is no record of this format");
}

}  // namespace

Result<Recovery> Recovery::prepare(const std::string& runs, const std::string& origin,
                                   const std::string& boot) {
  Recovery self;
  self.path_ = runs;
  self.origin_ = origin;
  self.boot_ = boot;
  self.directory_ = AASM_TRY(RunsDirectory::read(runs));
  self.sweep_ = !self.directory_ || !self.directory_->is_swept(origin, boot);
  if (self.directory_) {
    self.directory_->remove_unnamed();
    self.stale_ = AASM_TRY(self.directory_->take_stale());
    // Another ledger in this directory recovers its own runs.
    std::erase_if(self.stale_, [&origin](const StaleLock& lock) {
      return lock.note && lock.note->origin != origin;
    });
  }
  return self;
}

std::uint64_t Recovery::search_start(std::uint64_t records) const {
  std::uint64_t start = records;
  if (sweep_) {
    start = directory_ ? directory_->swept_size(origin_) : 0;
  }
  for (const StaleLock& lock : stale_) {
    start = std::min(start, lock.note ? lock.note->size : start);
  }
  return start > records ? 0 : start;
}

Result<Recovery::OpenRuns> Recovery::find_open(LedgerDb& db, std::uint64_t from) {
  OpenRuns open;
  const auto look = [&open](const RecordRow& row) -> Result<void> {
    if (!may_open_or_end(row.payload)) {
      return {};
    }
    const Statement statement = AASM_TRY(statement_of(row));
    const ledger_format::Envelope& envelope = statement.envelope;
    if (ends_run(envelope.kind)) {
      open.erase(envelope.run);
    } else if (envelope.kind == "run.opened") {
      const auto body = AASM_TRY(schema::read_fields<schema::RunOpened>(statement.body));
      open.emplace(envelope.run, OpenRun{row.seq, envelope.boot, body.run_key});
    }
    return {};
  };
  AASM_TRY(db.visit_records(from, look));
  return open;
}

// Whether the run's supervisor is known to be gone; its lock is held then.
Result<bool> Recovery::hold(const schema::RunId& run, const OpenRun& open) {
  if (std::any_of(stale_.begin(), stale_.end(),
                  [&run](const StaleLock& lock) { return lock.run == run; })) {
    return true;
  }
  if (open.boot == boot_ || (directory_ && directory_->has_lock(run))) {
    return false;
  }
  Result<RunLock> lock = RunLock::take(path_, run, {origin_, open.opened_seq});
  if (lock) {
    new_locks_.push_back(std::move(*lock));
    return true;
  }
  return lock.error().code() == ErrorCode::kConflict ? Result<bool>(false)
                                                     : Result<bool>(std::move(lock).error());
}

Result<void> Recovery::recover(LedgerDb& db, const schema::RunId& run, const OpenRun& open,
                               const crypto::SigningKey& host, Appender& appender) {
  schema::RunRecovered body;
  const auto look = [&](const RecordRow& row) -> Result<void> {
    if (row.payload.find(run.text()) == std::string_view::npos) {
      return {};
    }
    const Statement statement = AASM_TRY(statement_of(row));
    if (statement.envelope.run != run) {
      return {};
    }
    body.last_kind = statement.envelope.kind;
    const auto known = AASM_TRY(schema::read_body(statement.envelope.kind, statement.body));
    body.program_may_have_run =
        body.program_may_have_run || (known && schema::permits_start(*known));
    return {};
  };
  AASM_TRY(db.visit_records(open.opened_seq, look));
  const PendingRecord record = AASM_TRY(make_pending(run, schema::RecordBody(body), host));
  appender.runs().adopt(run, open.key);
  return appender.add(record);
}

Result<void> Recovery::append(LedgerDb& db, const crypto::SigningKey& host, Appender& appender) {
  if (!sweep_ && stale_.empty()) {
    return {};
  }
  const std::uint64_t records = appender.head().range.size();
  const OpenRuns found = AASM_TRY(find_open(db, search_start(records)));
  std::vector<std::pair<schema::RunId, OpenRun>> open(found.begin(), found.end());
  std::sort(open.begin(), open.end(), [](const auto& left, const auto& right) {
    return left.second.opened_seq < right.second.opened_seq;
  });
  swept_ = records;
  for (const auto& [run, how] : open) {
    if (AASM_TRY(hold(run, how))) {
      AASM_TRY_CONTEXT(recover(db, run, how, host, appender), "run " + run.text());
    } else {
      swept_ = std::min(swept_, how.opened_seq);
    }
  }
  return {};
}

void Recovery::finish() {
  for (StaleLock& stale : stale_) {
    stale.lock.finish();
  }
  for (RunLock& lock : new_locks_) {
    lock.finish();
  }
  if (sweep_) {
    RunsDirectory::mark_swept(path_, origin_, boot_, swept_);
  }
}

}  // namespace aasm::ledger
