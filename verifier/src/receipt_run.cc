#include "receipt_run.h"

#include <string>
#include <utility>
#include <variant>

#include "aasm/crypto/ed25519.h"
#include "aasm/ledger_format/keys.h"

namespace aasm::verifier {

void ReceiptRun::begin(std::uint64_t index, std::uint64_t tree_size) {
  said_.index = index;
  said_.tree_size = tree_size;
}

bool ReceiptRun::note(const RecordView& view) {
  if (!view.body) {
    return false;
  }
  if (const auto* opened = std::get_if<schema::RunOpened>(&*view.body)) {
    return note_opened(view, *opened);
  }
  const auto* closed = std::get_if<schema::RunClosed>(&*view.body);
  return closed != nullptr && note_closed(view, *closed);
}

bool ReceiptRun::note_opened(const RecordView& view, const schema::RunOpened& opened) {
  if (key_) {
    return false;
  }
  run_ = view.envelope->run;
  key_ = opened.run_key;
  said_.run = run_.text();
  said_.agent = opened.identity.agent_id;
  said_.program = opened.program.display();
  said_.isolation = schema::token(opened.isolation);
  return crypto::is_acceptable_public_key(opened.run_key);
}

bool ReceiptRun::note_closed(const RecordView& view, const schema::RunClosed& closed) {
  const bool first = !std::exchange(closed_, true);
  if (!first || view.envelope->run != run_) {
    return false;
  }
  const auto seq = static_cast<std::uint64_t>(view.raw.seq);
  if (said_.index != seq) {
    findings_.add(FindingCode::kReceiptIndexMismatch, view.raw.seq,
                  {.expected = std::to_string(seq), .actual = std::to_string(said_.index)});
  }
  said_.ending = schema::token(closed.ending);
  said_.program_started = closed.program_started;
  said_.records = closed.records;
  said_.events = closed.channel.events;
  said_.actions = closed.channel.actions;
  said_.dropped = closed.channel.dropped;
  return true;
}

bool ReceiptRun::names_its_key(const RecordView& view) const {
  return key_ && view.envelope->run == run_ && view.envelope->key == ledger_format::key_id(*key_);
}

void ReceiptRun::check_presence() {
  if (!key_) {
    findings_.add(FindingCode::kReceiptRecordMissing, -1, {.expected = "run.opened"});
  }
  if (!closed_) {
    findings_.add(FindingCode::kReceiptRecordMissing, -1, {.expected = "run.closed"});
  }
}

}  // namespace aasm::verifier
