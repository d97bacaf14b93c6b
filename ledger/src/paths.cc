#include "aasm/ledger/paths.h"

namespace aasm::ledger {

LedgerPaths LedgerPaths::in_home(const std::string& home) {
  return with_ledger(home, home + "/ledger.db");
}

LedgerPaths LedgerPaths::with_ledger(const std::string& home, const std::string& ledger) {
  const std::size_t slash = ledger.rfind('/');
  const std::string beside = slash == std::string::npos ? "" : ledger.substr(0, slash + 1);
  return {ledger, home + "/keys", beside + "heads", beside + "runs", home + "/probes"};
}

}  // namespace aasm::ledger
