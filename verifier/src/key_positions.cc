#include "key_positions.h"

#include <algorithm>

#include "aasm/crypto/ed25519.h"
#include "aasm/schema/base64.h"

namespace aasm::verifier {

using ledger_format::KeyPurpose;
using ledger_format::NoteVerdict;
using ledger_format::VerifierKey;

KeyPositions::KeyPositions(const ledger_format::TrustSet& trust, bool explicit_trust,
                           FindingLog& findings)
    : trust_(trust), explicit_trust_(explicit_trust), findings_(findings) {}

void KeyPositions::judge_pin(const schema::LedgerCreated& created) {
  const ledger_format::TrustedRoot* root = trust_.root_of(origin());
  if (root == nullptr) {
    const FindingCode code =
        explicit_trust_ ? FindingCode::kForeignLedger : FindingCode::kOriginNotPinned;
    findings_.add(code, 0, {.expected = "a root line for the origin", .actual = origin()});
    return;
  }
  const bool same_root = root->key.public_key() == created.root;
  if (!same_root) {
    findings_.add(FindingCode::kRootMismatch, 0,
                  {.expected = root->key.public_key().hex(), .actual = created.root.hex()});
  }
  const std::vector<VerifierKey> logs = trust_.logs_of(origin());
  if (logs.empty()) {
    findings_.add(FindingCode::kLogNotPinned, 0,
                  {.expected = "a log line for the origin", .actual = origin()});
    return;
  }
  // Whether it pins this log key, or one that a key record brings later, is known at the end.
  log_pin_known_ = true;
  root_pinned_ = same_root;
}

void KeyPositions::judge_certificate(std::int64_t seq, const schema::KeyCertificate& certificate,
                                     KeyPurpose purpose, const schema::PublicKey& root) {
  const schema::Result<schema::Bytes> signature = schema::from_base64(certificate.signature);
  const bool good =
      signature && crypto::is_acceptable_public_key(certificate.key) &&
      ledger_format::verify_certificate(root, origin(), purpose, certificate.key, *signature);
  if (!good) {
    findings_.add(FindingCode::kCertificateBad, seq,
                  {.expected = "a certificate by root " + root.hex(),
                   .actual = certificate.signature,
                   .detail = std::string(to_string(purpose)) + " key " + certificate.key.hex()});
  }
}

void KeyPositions::begin(const ledger_format::Envelope& envelope,
                         const schema::LedgerCreated& created) {
  trust_outcome_.judged = true;
  trust_outcome_.origin = envelope.origin;
  trust_outcome_.root = ledger_format::key_id(created.root);
  trust_outcome_.host = ledger_format::key_id(created.host.key);
  trust_outcome_.log = ledger_format::key_id(created.log.key);
  if (created.origin != envelope.origin) {
    findings_.add(FindingCode::kOriginMismatch, 0,
                  {.expected = envelope.origin, .actual = created.origin});
  }
  judge_pin(created);
  judge_certificate(0, created.host, KeyPurpose::kHost, created.root);
  judge_certificate(0, created.log, KeyPurpose::kLog, created.root);
  root_ = created.root;
  host_ = created.host.key;
  first_log_ = created.log.key;
  for (const auto& id : {trust_outcome_.root, trust_outcome_.host, trust_outcome_.log}) {
    chain_.emplace(*id, ChainKey());
  }
  judge_revocation(*trust_outcome_.root, 0);  // the root's signatures are the certificates, here
  set_log(created.log.key);
  trust_outcome_.pinned = log_pin_known_ && root_pinned_ && log_pinned_;
}

NoteOpinion KeyPositions::judge_note(const ledger_format::Note& note,
                                     const std::string& origin) const {
  std::vector<VerifierKey> keys = trust_.logs_of(origin);
  if (log_ && log_->name() == origin && std::find(keys.begin(), keys.end(), *log_) == keys.end()) {
    keys.push_back(*log_);
  }
  NoteOpinion opinion;
  for (const VerifierKey& key : keys) {
    const NoteVerdict verdict = ledger_format::verify_note(note, key);
    opinion.good = opinion.good || verdict == NoteVerdict::kVerified;
    opinion.bad = opinion.bad || verdict == NoteVerdict::kBadSignature;
  }
  return opinion;
}

void KeyPositions::judge_revocation(const schema::KeyId& key, std::uint64_t position) {
  track(key, position);
  const std::optional<std::uint64_t> limit = limit_of(key);
  if (limit && position >= *limit) {
    report_revoked(key, position, *limit);
  }
  const ledger_format::RevokedKey* revoked = trust_.revocation_of(key);
  if (revoked == nullptr || position >= revoked->size) {
    return;
  }
  BeforeLimit& seen = before_limit_[key];
  seen.last_position = std::max(seen.last_position, position);
  ++seen.signatures;
}

void KeyPositions::note_witnessed(std::uint64_t size) {
  cover(size);
  for (const ledger_format::RevokedKey& revoked : trust_.keys.revoked) {
    if (size <= revoked.size) {
      std::uint64_t& covered = witnessed_[revoked.key];
      covered = std::max(covered, size);
    }
  }
}

void KeyPositions::finish() {
  finish_pin();
  trust_outcome_.pinned = log_pin_known_ && root_pinned_ && log_pinned_;
  finish_revoked();
  for (const auto& [key, seen] : before_limit_) {
    const auto stated = revoked_.find(key);
    if (stated != revoked_.end() && stated->second < trust_.revocation_of(key)->size) {
      continue;  // finish_revoked() judges it by the smaller limit
    }
    const auto covered = witnessed_.find(key);
    if (covered != witnessed_.end() && covered->second > seen.last_position) {
      continue;
    }
    findings_.add(FindingCode::kKeyRevokedBeforeLimit,
                  static_cast<std::int64_t>(seen.last_position),
                  {.expected = "a witnessed checkpoint from before the revocation",
                   .actual = std::to_string(seen.signatures) + " signatures by " + key.hex()});
  }
}

}  // namespace aasm::verifier
