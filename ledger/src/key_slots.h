#pragma once

#include <string>

#include "aasm/crypto/ed25519.h"
#include "aasm/ledger_format/keys.h"
#include "aasm/schema/result.h"

#include "key_history.h"

// The files that a key change goes through: the new key is written as host.key.next (log.key.next)
// before the record that puts it in force is committed, and renamed to host.key after. Whoever
// finds the change cut off in between sees from the ledger which of the two is in force.
namespace aasm::ledger {

// Durable when this returns. An earlier .next file, which never came into force, is removed.
schema::Result<void> write_next_key(const std::string& directory, const std::string& origin,
                                    ledger_format::KeyPurpose purpose,
                                    const crypto::SigningKey& key);
schema::Result<void> settle_next_key(const std::string& directory,
                                     ledger_format::KeyPurpose purpose);

// The private key of what the ledger has in force, from either file. kIntegrity when neither holds
// it: the key files are older than the ledger, or of another one.
schema::Result<crypto::SigningKey> load_key_in_force(const std::string& directory,
                                                     const std::string& origin,
                                                     const KeyIntroduction& in_force);

}  // namespace aasm::ledger
