#include <algorithm>

#include "aasm/ledger_format/trust.h"

namespace aasm::ledger_format {

const TrustedRoot* TrustSet::root_of(std::string_view origin) const {
  const auto found =
      std::find_if(keys.roots.begin(), keys.roots.end(),
                   [origin](const TrustedRoot& root) { return root.origin == origin; });
  return found == keys.roots.end() ? nullptr : &*found;
}

std::vector<VerifierKey> TrustSet::logs_of(std::string_view origin) const {
  std::vector<VerifierKey> found;
  for (const TrustedLog& log : policy.logs) {
    if (log.key.name() == origin) {
      found.push_back(log.key);
    }
  }
  return found;
}

const RevokedKey* TrustSet::revocation_of(const schema::KeyId& key) const {
  const auto found = std::find_if(keys.revoked.begin(), keys.revoked.end(),
                                  [&key](const RevokedKey& revoked) { return revoked.key == key; });
  return found == keys.revoked.end() ? nullptr : &*found;
}

}  // namespace aasm::ledger_format
