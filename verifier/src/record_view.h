#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "aasm/crypto/ed25519.h"
#include "aasm/ledger_format/envelope.h"
#include "aasm/ledger_format/kind.h"
#include "aasm/schema/digest.h"
#include "aasm/schema/record.h"

namespace aasm::verifier {

struct Run;

// A row of `records` as read, bytes not judged but for type and length.
struct RawRecord {
  std::int64_t seq = 0;
  schema::LeafHash prev;
  schema::LeafHash leaf;
  schema::KeyId key;
  schema::Bytes payload;
  schema::Bytes signature;
  std::string malformed;  // which column is not what the format says; empty when all are

  void clear();  // as new, but for the room that the bytes had
};

// What a record ends, after which a writer commits a checkpoint. Changes of keys may stand in a
// row: then the last of them.
enum class Ends : std::uint8_t { kNothing, kRun, kChangeOfKeys };

// One record on its way through the checks: parse_record() fills what depends on its bytes alone,
// the place in the ledger gives the signer, and check_signature() the verdict on it.
struct RecordView {
  RawRecord raw;
  schema::Bytes pae;
  schema::LeafHash leaf;  // recomputed
  std::optional<ledger_format::Envelope> envelope;
  std::optional<ledger_format::PayloadFault> fault;  // set when there is no envelope
  std::optional<ledger_format::RecordKind> kind;     // nullopt: unknown to this version
  std::optional<schema::RecordBody> body;            // nullopt: unknown kind or malformed
  std::string body_fault;                            // known kind, body does not read

  std::optional<schema::PublicKey> signer;  // who must have signed, when that is known
  bool signature_ok = false;
  std::shared_ptr<Run> run;  // the open run it belongs to
  Ends ends = Ends::kNothing;

  void clear();  // as RawRecord's
};

// Pure; for the workers. The first is a part of the second: PAE and leaf of the payload, false when
// it is too long to have them.
bool hash_record(RecordView& record);
void parse_record(RecordView& record);
// Sets signature_ok. False without a signer.
void check_signature(RecordView& record);

}  // namespace aasm::verifier
