#pragma once

#include <string>

namespace aasm::ledger {

// Where the parts of a ledger stand (docs/spec/product.md section 8). heads/ and runs/ stand beside
// the ledger file, keys/ and probes/ in the home directory. Plain paths: nothing is looked at. Give
// absolute ones to a process that may change its directory while a ledger is open.
struct LedgerPaths {
  std::string ledger;  // the database file
  std::string keys;
  std::string heads;
  std::string runs;
  std::string probes;

  // Everything in `home`, the ledger as ledger.db.
  static LedgerPaths in_home(const std::string& home);
  // The same with another ledger file.
  static LedgerPaths with_ledger(const std::string& home, const std::string& ledger);
};

}  // namespace aasm::ledger
