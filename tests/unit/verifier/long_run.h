#pragma once

#include <cstdint>
#include <vector>

#include "aasm/ledger/pending_record.h"
#include "aasm/ledger/store.h"

#include "support/ledger_home.h"

// Ledgers of many records, by the real writer.
namespace aasm::verifier::test {

// `count` records with one denied call each, numbered from `first_event`: payloads of 1 KiB.
std::vector<ledger::PendingRecord> decision_records(const aasm::test::TestRun& run,
                                                    std::int64_t first_event, std::size_t count);

// One run of `records` records (at least 10), from run.opened to run.closed. Appended to a ledger
// it verifies without a finding. `run` and `host` outlive the records.
std::vector<ledger::PendingRecord> long_run(const aasm::test::TestRun& run,
                                            const crypto::SigningKey& host, std::size_t records);

// Appends runs of about `records_of_a_run`, each in one transaction, until the ledger holds
// `records`.
void fill_ledger(ledger::Store& store, std::uint64_t records, std::size_t records_of_a_run);

}  // namespace aasm::verifier::test
