#pragma once

#include <string>

#include "aasm/ledger/paths.h"
#include "aasm/schema/digest.h"
#include "aasm/schema/result.h"

namespace aasm::ledger {

struct InitOptions {
  // The domain of a new origin; empty means "<host name>.invalid".
  std::string org;
  std::string aasm_version;
};

struct InitReport {
  std::string origin;
  schema::PublicKey root;  // as record 0 says: what trust.keys pins
  schema::PublicKey host;
  schema::PublicKey log;
  bool keys_created = false;
  bool ledger_created = false;
};

// Makes what is missing of the home directory, the keys and the ledger, and opens what is there:
// a second call changes nothing. After a crash it goes on where the last one stopped. kIntegrity
// when keys and ledger do not belong together or the ledger is gone although its head file says
// that it existed; kNotFound when the ledger must be made and root.key is not there.
schema::Result<InitReport> initialise(const std::string& home, const LedgerPaths& paths,
                                      const InitOptions& options);

// "<host name>.invalid", with every character a domain cannot have turned into a hyphen.
std::string default_domain(const std::string& host_name);

}  // namespace aasm::ledger
