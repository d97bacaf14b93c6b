#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "aasm/crypto/ed25519.h"
#include "aasm/schema/base64.h"

#include "key_positions.h"

// What key.* records do to the keys in force (docs/spec/ledger-format.md section 5). A fault
// becomes a finding that fails the ledger, and the change is followed all the same: so everything
// behind it is still judged by the keys that the file says it is of.
namespace aasm::verifier {
namespace {

using ledger_format::KeyPurpose;
using ledger_format::VerifierKey;
using schema::PublicKey;

schema::Bytes signature_of(const std::string& base64) {
  const schema::Result<schema::Bytes> bytes = schema::from_base64(base64);
  return bytes ? *bytes : schema::Bytes();
}

}  // namespace

std::optional<PublicKey> KeyPositions::signer_of(const schema::RecordBody* body) const {
  const auto* replaced = body == nullptr ? nullptr : std::get_if<schema::KeyReplaced>(body);
  if (replaced != nullptr && replaced->certificate.purpose == "host") {
    return replaced->certificate.key;  // it comes in by the root's word, not by the old key's
  }
  return host_;
}

bool KeyPositions::apply(std::int64_t seq, const schema::RecordBody* body) {
  if (body == nullptr || !known()) {
    return false;
  }
  if (const auto* rotated = std::get_if<schema::KeyRotated>(body)) {
    rotate(seq, *rotated);
  } else if (const auto* replaced = std::get_if<schema::KeyReplaced>(body)) {
    replace(seq, *replaced);
  } else if (const auto* revoked = std::get_if<schema::KeyRevoked>(body)) {
    revoke(seq, *revoked);
  } else {
    return false;
  }
  return true;
}

void KeyPositions::rotate(std::int64_t seq, const schema::KeyRotated& body) {
  const KeyPurpose purpose = body.purpose == "log" ? KeyPurpose::kLog : KeyPurpose::kHost;
  const std::string message = ledger_format::rotation_message(origin(), body.old_key, body.new_key);
  const bool by_new = crypto::is_acceptable_public_key(body.new_key) &&
                      ledger_format::verify_rotation(origin(), body.old_key, body.new_key,
                                                     signature_of(body.new_signature));
  // The old host key signs the record itself.
  const bool by_old = !body.old_signature || crypto::verify(body.old_key, schema::as_bytes(message),
                                                            signature_of(*body.old_signature));
  if (!by_new || !by_old) {
    findings_.add(FindingCode::kKeyChangeBad, seq,
                  {.expected = "signatures by the old and the new key",
                   .actual = by_new ? "none by the old key" : "none by the new key",
                   .detail = body.purpose + " key " + body.new_key.hex()});
  }
  put_in_force(seq, purpose, body.old_key, body.new_key);
}

void KeyPositions::replace(std::int64_t seq, const schema::KeyReplaced& body) {
  const KeyPurpose purpose =
      body.certificate.purpose == "log" ? KeyPurpose::kLog : KeyPurpose::kHost;
  judge_certificate(seq, body.certificate, purpose, root_);
  judge_revocation(*trust_outcome_.root, static_cast<std::uint64_t>(seq));
  put_in_force(seq, purpose, body.old_key, body.certificate.key);
}

void KeyPositions::put_in_force(std::int64_t seq, KeyPurpose purpose, const PublicKey& old_key,
                                const PublicKey& new_key) {
  const schema::KeyId id = ledger_format::key_id(new_key);
  const PublicKey in_force = purpose == KeyPurpose::kHost ? *host_ : log_public_;
  if (old_key != in_force) {
    findings_.add(FindingCode::kKeyChangeStale, seq,
                  {.expected = "a change of " + in_force.hex(), .actual = old_key.hex()});
  }
  // An old certificate, played again, would bring a retired or stolen key back.
  if (!chain_.emplace(id, ChainKey()).second || id == *trust_outcome_.root) {
    findings_.add(FindingCode::kKeyReused, seq,
                  {.expected = "a key that this ledger never had", .actual = new_key.hex()});
  }
  if (purpose == KeyPurpose::kHost) {
    host_ = new_key;
    trust_outcome_.host = id;
    return;
  }
  set_log(new_key);
  trust_outcome_.log = id;
}

void KeyPositions::set_log(const PublicKey& key) {
  log_public_ = key;
  ++num_log_keys_;
  log_.reset();
  const schema::Result<VerifierKey> log =
      VerifierKey::make(origin(), ledger_format::NoteKeyType::kEd25519, key);
  if (log) {
    log_ = *log;
  }
  const std::vector<VerifierKey> pinned = trust_.logs_of(origin());
  log_pinned_ = log_pinned_ || std::any_of(pinned.begin(), pinned.end(), [&](const auto& one) {
                  return one.public_key() == key;
                });
}

void KeyPositions::revoke(std::int64_t seq, const schema::KeyRevoked& body) {
  if (!ledger_format::verify_revocation(root_, origin(), body.key, body.limit,
                                        signature_of(body.signature))) {
    findings_.add(FindingCode::kRevocationBad, seq,
                  {.expected = "a signature by root " + root_.hex(), .actual = body.signature});
    return;
  }
  judge_revocation(*trust_outcome_.root, static_cast<std::uint64_t>(seq));
  const std::optional<std::uint64_t> earlier = limit_of(body.key);
  const auto [limit, first] = revoked_.emplace(body.key, body.limit);
  limit->second = std::min(limit->second, body.limit);
  const auto key = chain_.find(body.key);
  if (key == chain_.end()) {
    // Of a run's key it is not kept how far it signed.
    findings_.add(FindingCode::kRevokedKeyUnknown, seq, {.actual = body.key.hex()});
    return;
  }
  const bool reported = earlier && key->second.last_position >= *earlier;
  if (key->second.signatures != 0 && key->second.last_position >= body.limit && !reported) {
    report_revoked(body.key, key->second.last_position, body.limit);
  }
}

void KeyPositions::report_revoked(const schema::KeyId& key, std::uint64_t position,
                                  std::uint64_t limit) {
  findings_.add(
      FindingCode::kKeyRevoked, static_cast<std::int64_t>(position),
      {.expected = "no signature by " + key.hex() + " at or after " + std::to_string(limit),
       .actual = "position " + std::to_string(position)});
}

// Keeps how far a host, log or root key signed: a revocation may come later than that.
void KeyPositions::track(const schema::KeyId& key, std::uint64_t position) {
  const auto found = chain_.find(key);
  if (found != chain_.end()) {
    ChainKey& seen = found->second;
    seen.last_position = std::max(seen.last_position, position);
    seen.covered = 0;
    ++seen.signatures;
  }
}

// The smallest limit that is known so far counts.
std::optional<std::uint64_t> KeyPositions::limit_of(const schema::KeyId& key) const {
  std::optional<std::uint64_t> smallest;
  if (const ledger_format::RevokedKey* revoked = trust_.revocation_of(key)) {
    smallest = revoked->size;
  }
  const auto stated = revoked_.find(key);
  if (stated != revoked_.end()) {
    smallest = std::min(smallest.value_or(stated->second), stated->second);
  }
  return smallest;
}

void KeyPositions::cover(std::uint64_t size) {
  for (auto& [id, key] : chain_) {
    if (key.covered == 0 && size > key.last_position) {
      key.covered = size;
    }
  }
}

void KeyPositions::finish_revoked() {
  for (const auto& [id, limit] : revoked_) {
    const auto key = chain_.find(id);
    const ledger_format::RevokedKey* trusted = trust_.revocation_of(id);
    if (trusted != nullptr && trusted->size <= limit) {
      continue;  // finish() judges it by the trust file's limit
    }
    if (key == chain_.end() || key->second.signatures == 0 || key->second.last_position >= limit) {
      continue;
    }
    if (key->second.covered == 0 || key->second.covered > limit) {
      findings_.add(
          FindingCode::kKeyRevokedBeforeLimit, static_cast<std::int64_t>(key->second.last_position),
          {.expected = "a witnessed checkpoint from before the revocation",
           .actual = std::to_string(key->second.signatures) + " signatures by " + id.hex()});
    }
  }
}

void KeyPositions::finish_pin() {
  if (!log_pin_known_ || log_pinned_) {
    return;
  }
  findings_.add(FindingCode::kLogKeyMismatch, 0,
                {.expected = trust_.logs_of(origin()).front().text(), .actual = first_log_.hex()});
}

}  // namespace aasm::verifier
