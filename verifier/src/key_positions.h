#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "aasm/ledger_format/envelope.h"
#include "aasm/ledger_format/keys.h"
#include "aasm/ledger_format/note.h"
#include "aasm/ledger_format/trust.h"
#include "aasm/ledger_format/vkey.h"
#include "aasm/schema/record.h"

#include "finding_log.h"
#include "outcome.h"

namespace aasm::verifier {

// What several keys say about one note: some key's signature holds; one in some key's name does
// not.
struct NoteOpinion {
  bool good = false;
  bool bad = false;
};

// Which host and log key are in force at the record being judged (docs/spec/ledger-format.md
// section 5). begin() reads record 0; key.* records move the keys from there on (key_changes.cc),
// and those of later versions are `skipped`. Fed in ledger order, from one thread.
class KeyPositions {
 public:
  KeyPositions(const ledger_format::TrustSet& trust, bool explicit_trust, FindingLog& findings);

  // Judges record 0: is its origin pinned, are root and log key the pinned ones, did the root
  // certify host and log key? Faults become findings; the keys are used all the same, so that
  // everything else in the file is still judged.
  void begin(const ledger_format::Envelope& envelope, const schema::LedgerCreated& created);

  // Who must have signed a record of a kind that the host key signs: the host key in force, but the
  // new one itself when `body` is the key.replaced that brings it.
  std::optional<schema::PublicKey> signer_of(const schema::RecordBody* body) const;
  // Follows a key.* record. False when `body` is none that this version knows.
  bool apply(std::int64_t seq, const schema::RecordBody* body);

  // A key record that was skipped: signers from here on may be keys we were not told of.
  void skip_key_record() { skipped_key_record_ = true; }
  bool skipped_key_record() const { return skipped_key_record_; }

  bool known() const { return host_.has_value(); }
  const std::string& origin() const { return trust_outcome_.origin; }
  const std::optional<schema::PublicKey>& host() const { return host_; }
  const std::optional<ledger_format::VerifierKey>& log() const { return log_; }
  const TrustOutcome& outcome() const { return trust_outcome_; }
  // How often the log key was changed.
  std::size_t num_log_keys() const { return num_log_keys_; }

  // What the log key, and the log keys pinned for the note's origin, say about `note`.
  NoteOpinion judge_note(const ledger_format::Note& note, const std::string& origin) const;

  // Applies the limits of `key`, the trust file's and those of records so far, to something that it
  // signed at `position`: a record's sequence number, or a checkpoint's size - 1.
  void judge_revocation(const schema::KeyId& key, std::uint64_t position);
  // A tree of `size` had the trust file's quorum of witnesses. What a revoked key signed before its
  // limit counts only when such a tree, not larger than the limit, covers it.
  void note_witnessed(std::uint64_t size);
  // After everything was judged.
  void finish();

 private:
  void judge_pin(const schema::LedgerCreated& created);
  void judge_certificate(std::int64_t seq, const schema::KeyCertificate& certificate,
                         ledger_format::KeyPurpose purpose, const schema::PublicKey& root);
  void rotate(std::int64_t seq, const schema::KeyRotated& body);
  void replace(std::int64_t seq, const schema::KeyReplaced& body);
  void revoke(std::int64_t seq, const schema::KeyRevoked& body);
  void put_in_force(std::int64_t seq, ledger_format::KeyPurpose purpose,
                    const schema::PublicKey& old_key, const schema::PublicKey& new_key);
  void set_log(const schema::PublicKey& key);
  std::optional<std::uint64_t> limit_of(const schema::KeyId& key) const;
  void report_revoked(const schema::KeyId& key, std::uint64_t position, std::uint64_t limit);
  void track(const schema::KeyId& key, std::uint64_t position);
  void cover(std::uint64_t size);
  void finish_revoked();
  void finish_pin();

  const ledger_format::TrustSet& trust_;
  bool explicit_trust_;
  FindingLog& findings_;
  TrustOutcome trust_outcome_;
  std::optional<schema::PublicKey> host_;
  std::optional<ledger_format::VerifierKey> log_;
  bool skipped_key_record_ = false;
  struct BeforeLimit {
    std::uint64_t last_position = 0;
    std::uint64_t signatures = 0;
  };
  std::map<schema::KeyId, BeforeLimit> before_limit_;
  // Host, log and root keys that the ledger ever had. Few: one a change.
  struct ChainKey {
    std::uint64_t last_position = 0;
    std::uint64_t signatures = 0;
    std::uint64_t covered = 0;  // smallest witnessed size past last_position; 0 for none
  };
  std::map<schema::KeyId, ChainKey> chain_;
  std::map<schema::KeyId, std::uint64_t> revoked_;  // limits that key.revoked records state
  schema::PublicKey root_;
  schema::PublicKey first_log_;
  schema::PublicKey log_public_;  // in force; log_ is empty when it is no acceptable key
  bool log_pin_known_ = false;    // the trust file pins a log key for the origin,
  bool log_pinned_ = false;       // and the ledger has had one of them
  bool root_pinned_ = false;
  std::size_t num_log_keys_ = 0;
  std::map<schema::KeyId, std::uint64_t> witnessed_;  // largest size not above the key's limit
};

}  // namespace aasm::verifier
