#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "aasm/ledger/paths.h"
#include "aasm/schema/digest.h"

#include "signed_rows.h"

// What one round measures of reading a ledger. Times are of the wall clock and of the processor:
// on a machine that others use too only the second says something.
namespace aasm::bench {

struct Cost {
  double wall_us = 0;
  double cpu_us = 0;
};

// What `work` took, all threads of this process counted.
Cost cost_of(const std::function<void()>& work);

struct Ended {
  Cost cost;
  long peak_kib = 0;  // of the largest process of it
};

// `aasm COMMAND` in `home`, a process of its own. Ends this program when it does not end with 0.
Ended run_aasm(const std::string& aasm, const char* command, const std::string& home);

// One call of crypto::verify for each row, on `threads` threads; 0: as many as there are cores.
Cost guarded_verify_on(const std::vector<SignedRow>& rows, int threads);

// Every row of the ledger: columns, leaf hash, tree. No payload is parsed.
Cost pass(const std::string& ledger, std::uint64_t& records);

// Store::open, to the moment when it could append.
Cost opening(const ledger::LedgerPaths& paths);

}  // namespace aasm::bench
