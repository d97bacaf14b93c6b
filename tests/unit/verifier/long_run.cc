#include "long_run.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "claims/sample_run.h"
#include "forge.h"

namespace aasm::verifier::test {
namespace {

constexpr std::size_t kOtherRecords = 9;  // of the sample run, beside its decision batch

void close_after(schema::RunClosed& body, std::size_t decisions) {
  body.records = static_cast<std::int64_t>(kOtherRecords - 1 + decisions);
  body.channel.events = static_cast<std::int64_t>(decisions);
  body.channel.actions = body.channel.events;
}

}  // namespace

std::vector<ledger::PendingRecord> decision_records(const aasm::test::TestRun& run,
                                                    std::int64_t first_event, std::size_t count) {
  std::vector<ledger::PendingRecord> records;
  schema::DecisionBatch body = claims::test::decisions({claims::test::denied_ptrace()});
  for (std::size_t i = 0; i < count; ++i) {
    body.first = first_event + static_cast<std::int64_t>(i);
    body.events[0].number = body.first;
    records.push_back(run.record(body));
  }
  return records;
}

std::vector<ledger::PendingRecord> long_run(const aasm::test::TestRun& run,
                                            const crypto::SigningKey& host, std::size_t records) {
  const std::size_t decisions = std::max(records, kOtherRecords + 1) - kOtherRecords;
  claims::test::Records sample = claims::test::sample_run();
  bind_plan(sample);
  close_after(claims::test::body_of<schema::RunClosed>(sample), decisions);
  std::vector<ledger::PendingRecord> made;
  for (const claims::test::Step& step : sample) {
    if (const auto* opened = std::get_if<schema::RunOpened>(&step.body)) {
      schema::RunOpened body = *opened;
      body.run_key = run.key().public_key();
      made.push_back(ledger::make_pending(run.id(), body, host).value());
    } else if (std::holds_alternative<schema::DecisionBatch>(step.body)) {
      std::vector<ledger::PendingRecord> many = decision_records(run, 1, decisions);
      std::move(many.begin(), many.end(), std::back_inserter(made));
    } else {
      made.push_back(run.record(step.body));
    }
  }
  return made;
}

void fill_ledger(ledger::Store& store, std::uint64_t records, std::size_t records_of_a_run) {
  while (store.size() < records) {
    const std::uint64_t left = records - store.size();
    // No rest that is too short for a run.
    const std::size_t length = left < 2 * records_of_a_run ? left : records_of_a_run;
    const aasm::test::TestRun run;
    store.append(long_run(run, store.host_key(), length)).value();
  }
}

}  // namespace aasm::verifier::test
