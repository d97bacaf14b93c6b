#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "aasm/ledger_format/note.h"
#include "aasm/ledger_format/vkey.h"
#include "aasm/schema/digest.h"
#include "aasm/schema/result.h"

// The two trust files (docs/spec/ledger-format.md section 10): `trust`, a C2SP tlog-policy
// unchanged, and `trust.keys`, our own. Pure. Every parse error is kMalformed (kUnsupported for a
// key of a type we cannot verify) and begins with "line N: ".
namespace aasm::ledger_format {

inline constexpr std::size_t kTrustMaxBytes = 1048576;
inline constexpr std::size_t kTrustMaxEntries = 1024;  // of each sort

struct TrustedLog {
  VerifierKey key;  // its name is the origin; type kEd25519
  std::string url;  // empty when the line has none
};

struct Witness {
  std::string name;  // known inside the policy file only
  VerifierKey key;   // type kCosignature
  std::string url;
};

struct WitnessGroup {
  std::string name;
  std::size_t threshold = 0;         // this many of the members
  std::vector<std::string> members;  // witnesses or groups of earlier lines
};

struct TrustPolicy {
  std::vector<TrustedLog> logs;
  std::vector<Witness> witnesses;
  std::vector<WitnessGroup> groups;  // in file order
  std::string quorum = "none";       // a witness, a group, or "none"

  bool requires_witness() const { return quorum != "none"; }
};

struct TrustedRoot {
  std::string origin;  // at most one root for an origin
  VerifierKey key;     // type kEd25519; its name is free
};

struct RevokedKey {
  schema::KeyId key;
  std::uint64_t size = 0;  // records at or after this index do not count
};

struct TrustKeys {
  std::vector<TrustedRoot> roots;
  std::vector<RevokedKey> revoked;
};

// What a verifier goes by: both files together.
struct TrustSet {
  TrustPolicy policy;
  TrustKeys keys;

  // The root pinned for `origin`, or nullptr.
  const TrustedRoot* root_of(std::string_view origin) const;
  // Every log key whose name is `origin`.
  std::vector<VerifierKey> logs_of(std::string_view origin) const;
  // The smallest limit stated for `key`, or nullptr.
  const RevokedKey* revocation_of(const schema::KeyId& key) const;
};

schema::Result<TrustPolicy> parse_trust_policy(std::string_view text);
schema::Result<TrustKeys> parse_trust_keys(std::string_view text);
// The inverse of the parsers, without comments.
std::string format_trust_policy(const TrustPolicy& policy);
std::string format_trust_keys(const TrustKeys& keys);

struct QuorumVerdict {
  bool met = false;              // also when the quorum is "none"
  std::vector<std::string> bad;  // witnesses whose name stands under a signature that is not theirs
};
// Judges the cosignatures on a checkpoint note. The log's own signature is a separate question.
QuorumVerdict check_quorum(const TrustPolicy& policy, const Note& note);

}  // namespace aasm::ledger_format
