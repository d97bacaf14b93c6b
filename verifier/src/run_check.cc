#include "run_check.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "aasm/crypto/ed25519.h"
#include "aasm/ledger_format/keys.h"
#include "aasm/ledger_format/note.h"

namespace aasm::verifier {
namespace {

using ledger_format::RecordKind;
using schema::Result;

constexpr std::int64_t kClockStepNs = 1000000000;

bool is_kind(const RecordView& record, RecordKind kind) {
  return record.kind == kind;
}

template <class Body>
const Body* body_as(const RecordView& record) {
  return record.body ? std::get_if<Body>(&*record.body) : nullptr;
}

// part and parts of a record that carries a piece of a list; {1, 1} of any other.
std::pair<std::int64_t, std::int64_t> part_of(const RecordView& record) {
  if (const auto* control = body_as<schema::ControlPrepared>(record)) {
    return {control->part, control->parts};
  }
  if (const auto* boundary = body_as<schema::BoundaryProved>(record)) {
    return {boundary->part, boundary->parts};
  }
  if (const auto* policy = body_as<schema::PolicyResolved>(record)) {
    return {policy->part.value_or(1), policy->parts.value_or(1)};
  }
  return {1, 1};
}

}  // namespace

RunCheck::RunCheck(const VerifyRequest& request, Spill& spill, RunClaims& claims, Outcome& outcome)
    : request_(request),
      spill_(spill),
      claims_(claims),
      findings_(outcome.findings),
      outcome_(outcome) {}

void RunCheck::demand_host(RecordView& record, KeyPositions& keys) {
  const std::int64_t seq = record.raw.seq;
  if (!keys.host()) {
    findings_.add(FindingCode::kKeyUnresolved, seq, {.detail = record.envelope->kind});
    return;
  }
  const schema::RecordBody* body = record.body ? &*record.body : nullptr;
  const schema::PublicKey signer = *keys.signer_of(body);
  const schema::KeyId host = ledger_format::key_id(signer);
  if (record.envelope->key != host) {
    findings_.add(
        keys.skipped_key_record() ? FindingCode::kSignerAfterSkippedKey : FindingCode::kWrongSigner,
        seq,
        {.expected = "host key " + host.hex(),
         .actual = record.envelope->key.hex(),
         .detail = record.envelope->kind});
    return;
  }
  record.signer = signer;
  keys.judge_revocation(host, static_cast<std::uint64_t>(seq));
}

void RunCheck::demand_run_key(RecordView& record, KeyPositions& keys) {
  const Run& run = *record.run;
  if (record.envelope->key != run.key_id) {
    findings_.add(FindingCode::kWrongSigner, record.raw.seq,
                  {.expected = "run key " + run.key_id.hex(),
                   .actual = record.envelope->key.hex(),
                   .detail = record.envelope->kind});
    return;
  }
  record.signer = run.key;
  keys.judge_revocation(run.key_id, static_cast<std::uint64_t>(record.raw.seq));
}

void RunCheck::admit_ledger_record(RecordView& record, KeyPositions& keys) {
  demand_host(record, keys);
  if (is_kind(record, RecordKind::kLedgerCreated) && record.raw.seq != 0) {
    findings_.add(FindingCode::kGenesisRepeated, record.raw.seq);
  }
  if (record.envelope->kind.starts_with("key.")) {
    record.ends = record.kind ? Ends::kChangeOfKeys : Ends::kNothing;
    if (!keys.apply(record.raw.seq, record.body ? &*record.body : nullptr)) {
      keys.skip_key_record();
    }
  }
}

Result<void> RunCheck::check_embedded(const RecordView& record, const schema::RunOpened& body,
                                      CheckpointCheck& checkpoints) {
  if (!body.checkpoint) {
    return {};
  }
  const Result<ledger_format::SignedCheckpoint> said =
      ledger_format::parse_signed_checkpoint(*body.checkpoint);
  const std::uint64_t size = said ? said->checkpoint.size : 0;
  // The stored checkpoint of that size was compared with the records and its signature is judged,
  // so the same text needs no second signature check.
  const std::optional<std::string> stored = AASM_TRY(checkpoints.passed_text(size));
  if (!said || !stored || *stored != said->note.text) {
    findings_.add(FindingCode::kEmbeddedCheckpointUnknown, record.raw.seq,
                  {.expected = stored ? *stored : "a checkpoint of size " + std::to_string(size),
                   .actual = *body.checkpoint});
  }
  return {};
}

Result<void> RunCheck::admit_opening(RecordView& record, KeyPositions& keys,
                                     CheckpointCheck& checkpoints) {
  const std::string& id = record.envelope->run.text();
  demand_host(record, keys);
  if (open_.count(id) != 0 || AASM_TRY(spill_.has_ended(id))) {
    findings_.add(FindingCode::kRunReopened, record.raw.seq, {.actual = id});
    return {};
  }
  const auto* body = body_as<schema::RunOpened>(record);
  if (body == nullptr) {
    return {};
  }
  if (open_.size() >= kMaxOpenRuns) {
    findings_.add(FindingCode::kLimitReached, record.raw.seq,
                  {.detail = std::to_string(kMaxOpenRuns) + " runs are open at once"});
    limit_reached_ = true;
    return {};
  }
  if (!crypto::is_acceptable_public_key(body->run_key)) {
    findings_.add(FindingCode::kRunKeyUnacceptable, record.raw.seq,
                  {.actual = body->run_key.hex()});
  }
  AASM_TRY(check_embedded(record, *body, checkpoints));
  auto run = std::make_shared<Run>();
  run->id = record.envelope->run;
  run->opened_seq = record.raw.seq;
  run->last_seq = record.raw.seq;
  run->key = body->run_key;
  run->key_id = ledger_format::key_id(body->run_key);
  run->records = 1;
  run->last_kind = record.envelope->kind;
  run->clock = {record.envelope->boot, record.envelope->wall_ns, record.envelope->mono_ns};
  // Behind a skipped key record the opening itself may be unverifiable: then nothing is claimed.
  const bool signer_unknown = !record.signer && keys.skipped_key_record();
  if (claims_.takes(id) && !signer_unknown) {
    run->facts = std::make_unique<claims::RunFacts>();
  }
  ++outcome_.coverage.runs;
  record.run = run;
  open_.emplace(id, std::move(run));
  return {};
}

// A record of no open run.
Result<void> RunCheck::admit_stray(RecordView& record, KeyPositions& keys) {
  const std::string& id = record.envelope->run.text();
  const bool ended = AASM_TRY(spill_.has_ended(id));
  findings_.add(ended ? FindingCode::kRecordAfterClose : FindingCode::kRunNotOpened, record.raw.seq,
                {.expected = ended ? "no record" : "run.opened before this record",
                 .actual = record.envelope->kind,
                 .detail = "run " + id});
  if (record.kind && ledger_format::is_signed_by_host(*record.kind)) {
    demand_host(record, keys);
  }
  return {};
}

void RunCheck::check_clock(Run& run, const RecordView& record) {
  const ledger_format::Envelope& envelope = *record.envelope;
  RunClock now{envelope.boot, envelope.wall_ns, envelope.mono_ns};
  if (now.boot == run.clock.boot) {
    // Differences of unsigned 64-bit values wrap; both clocks may hold any number.
    const auto wall =
        static_cast<std::uint64_t>(now.wall_ns) - static_cast<std::uint64_t>(run.clock.wall_ns);
    const auto step = static_cast<std::int64_t>(wall - (now.mono_ns - run.clock.mono_ns));
    if (step > kClockStepNs || step < -kClockStepNs) {
      ++outcome_.coverage.clock_steps;
      findings_.add(FindingCode::kClockStep, record.raw.seq,
                    {.actual = std::to_string(step) + " ns", .detail = "run " + run.id.text()});
    }
  }
  run.clock = std::move(now);
}

void RunCheck::check_place(Run& run, const RecordView& record) {
  const std::int64_t seq = record.raw.seq;
  const std::string& kind = record.envelope->kind;
  if (!run.list_kind.empty() && run.list_kind != kind) {
    findings_.add(FindingCode::kPartMissing, seq,
                  {.expected = "the next part of " + run.list_kind,
                   .actual = kind,
                   .detail = "run " + run.id.text()});
  }
  const auto [part, parts] = part_of(record);
  run.list_kind = part < parts ? kind : std::string();
  if (is_kind(record, RecordKind::kProcessStarted)) {
    if (run.started) {
      findings_.add(FindingCode::kStartRepeated, seq, {.detail = "run " + run.id.text()});
    }
    run.started = true;
  }
  check_ending(run, record);
  run.may_have_run = run.may_have_run || (record.body && schema::permits_start(*record.body));
}

// What closing and recovery records say about the records before them.
void RunCheck::check_ending(const Run& run, const RecordView& record) {
  if (const auto* closed = body_as<schema::RunClosed>(record)) {
    if (closed->records != run.records) {
      findings_.add(FindingCode::kRecordsCountMismatch, record.raw.seq,
                    {.expected = std::to_string(run.records),
                     .actual = std::to_string(closed->records),
                     .detail = "run " + run.id.text()});
    }
  }
  const auto* recovered = body_as<schema::RunRecovered>(record);
  if (recovered == nullptr || (recovered->last_kind == run.last_kind &&
                               recovered->program_may_have_run == run.may_have_run)) {
    return;
  }
  const auto say = [](const std::string& last, bool may) {
    return "last " + last + ", program_may_have_run " + (may ? "true" : "false");
  };
  findings_.add(FindingCode::kRecoveryDiffers, record.raw.seq,
                {.expected = say(run.last_kind, run.may_have_run),
                 .actual = say(recovered->last_kind, recovered->program_may_have_run),
                 .detail = "run " + run.id.text()});
}

Result<void> RunCheck::end_run(RecordView& record) {
  Run& run = *record.run;
  record.ends = Ends::kRun;
  run.recovered = record.body && is_kind(record, RecordKind::kRunRecovered);
  AASM_TRY(spill_.end_run(run.id.text()));
  open_.erase(run.id.text());
  return {};
}

Result<void> RunCheck::admit_to_run(RecordView& record, KeyPositions& keys) {
  const auto found = open_.find(record.envelope->run.text());
  if (found == open_.end()) {
    return admit_stray(record, keys);
  }
  record.run = found->second;
  Run& run = *record.run;
  // Who signs an unknown kind is unknown too; of the two keys it may be, it names one.
  const bool by_host = record.kind ? ledger_format::is_signed_by_host(*record.kind)
                                   : record.envelope->key != run.key_id;
  if (by_host) {
    demand_host(record, keys);
  } else {
    demand_run_key(record, keys);
  }
  check_clock(run, record);
  check_place(run, record);
  ++run.records;
  run.last_kind = record.envelope->kind;
  run.last_seq = record.raw.seq;
  if (is_kind(record, RecordKind::kRunClosed) || is_kind(record, RecordKind::kRunRecovered)) {
    return end_run(record);
  }
  return {};
}

Result<void> RunCheck::admit(RecordView& record, KeyPositions& keys, CheckpointCheck& checkpoints) {
  if (record.envelope->run.empty()) {
    admit_ledger_record(record, keys);
    return {};
  }
  if (is_kind(record, RecordKind::kRunOpened)) {
    return admit_opening(record, keys, checkpoints);
  }
  return admit_to_run(record, keys);
}

void RunCheck::feed_claims(const RecordView& record) {
  Run& run = *record.run;
  const bool batch =
      is_kind(record, RecordKind::kDecisionBatch) || is_kind(record, RecordKind::kObservationBatch);
  const std::size_t bytes = batch ? 0 : record.raw.payload.size();
  if (held_bytes_ + bytes > kMaxHeldBytes) {
    findings_.add(
        FindingCode::kLimitReached, record.raw.seq,
        {.detail = "setup records of open runs pass " + std::to_string(kMaxHeldBytes) + " bytes"});
    limit_reached_ = true;
    return;
  }
  held_bytes_ += bytes;
  run.held_bytes += bytes;
  claims_.feed(record);
}

Result<void> RunCheck::note_blobs(const schema::PolicyResolved& policy) {
  if (policy.blob) {
    AASM_TRY(spill_.name_blob(*policy.blob, policy.document));
  }
  for (const schema::PolicySource& one :
       policy.extends.value_or(std::vector<schema::PolicySource>())) {
    if (one.blob) {
      AASM_TRY(spill_.name_blob(*one.blob, one.document));
    }
  }
  return {};
}

Result<void> RunCheck::feed(RecordView& record) {
  if (const auto* policy = body_as<schema::PolicyResolved>(record)) {
    AASM_TRY(note_blobs(*policy));
  }
  if (!record.run) {
    return {};
  }
  if (record.run->facts && record.body) {
    feed_claims(record);
  }
  if (record.ends == Ends::kRun) {
    count_ending(record);
    claims_.fold(*record.run);
  }
  record.run.reset();
  return {};
}

void RunCheck::count_ending(const RecordView& record) {
  const Run& run = *record.run;
  held_bytes_ -= run.held_bytes;
  if (run.recovered) {
    outcome_.coverage.interrupted.add(run.id.text());
  } else if (record.body) {
    ++outcome_.coverage.closed;
  } else {  // how it ended is not known
    outcome_.coverage.unfinished.add(run.id.text());
    if (run.facts) {
      add_unfinished(run, FindingCode::kRunUnfinished);
    }
  }
}

void RunCheck::add_unfinished(const Run& run, FindingCode code) {
  findings_.add(code, run.last_seq,
                {.expected = "run.closed or run.recovered",
                 .actual = run.last_kind,
                 .detail = "run " + run.id.text()});
}

void RunCheck::finish() {
  std::vector<const Run*> unfinished;
  for (const auto& entry : open_) {
    unfinished.push_back(entry.second.get());
  }
  std::sort(unfinished.begin(), unfinished.end(),
            [](const Run* left, const Run* right) { return left->opened_seq < right->opened_seq; });
  const bool excluded = request_.allow_open && request_.run.empty();
  for (const Run* run : unfinished) {
    outcome_.coverage.unfinished.add(run->id.text());
    if (!run->facts) {
      continue;
    }
    add_unfinished(*run,
                   excluded ? FindingCode::kRunUnfinishedExcluded : FindingCode::kRunUnfinished);
    if (excluded) {
      claims_.list_unfinished(*run);
    } else {
      claims_.fold(*run);
    }
  }
}

}  // namespace aasm::verifier
