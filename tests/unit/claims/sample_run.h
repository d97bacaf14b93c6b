#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "aasm/claims/claims.h"
#include "aasm/claims/facts.h"
#include "aasm/schema/record.h"

namespace aasm::claims::test {

inline constexpr const char* kBoot = "6f1a2b3c-0000-4000-8000-000000000001";
inline constexpr const char* kOtherBoot = "6f1a2b3c-0000-4000-8000-000000000002";

// One record as a test hands it to RunFacts.
struct Step {
  std::int64_t seq = 0;
  std::string boot = kBoot;
  bool signer_ok = true;
  schema::RecordBody body;
};
using Records = std::vector<Step>;

// Appends a record with the next number.
void append(Records& run, schema::RecordBody body);

// Numbers the records 0, 1, 2, ... in the order in which they stand.
void renumber(Records& run);

// The first body of a kind in the run; aborts when there is none.
template <class T>
T& body_of(Records& run) {
  for (Step& step : run) {
    if (T* body = std::get_if<T>(&step.body)) {
      return *body;
    }
  }
  std::abort();
}
template <class T>
Step& step_of(Records& run) {
  for (Step& step : run) {
    if (std::holds_alternative<T>(step.body)) {
      return step;
    }
  }
  std::abort();
}
// Removes the records of one kind and renumbers.
template <class T>
void remove_kind(Records& run) {
  std::erase_if(run, [](const Step& step) { return std::holds_alternative<T>(step.body); });
  renumber(run);
}

RunFacts facts_of(const Records& run);
RunClaims claims_of(const Records& run);

// Parts of the sample run.
schema::Event denied_ptrace();  // rule syscalls.deny[0]
schema::Event allowed_prctl();  // rule syscalls.allow[0]
schema::EventObject address_object(std::string address, std::int64_t port, std::string protocol);
schema::Event compat_clone3();  // answered ENOSYS so that the caller falls back
schema::Event observed_open();  // filesystem_read
schema::DecisionBatch decisions(std::vector<schema::Event> events);  // numbers them from 1
schema::HostConditions conditions();
schema::Sha256 digest_of(std::uint8_t byte);

// A run with one denial that rule 2 accepts, and nothing that contradicts. States filesystem_read
// (proved), filesystem_write (installed), syscall (denial, channel), credential (installed),
// network_egress (degraded), name_resolution (optional, unmet) and resource (optional,
// unsupported); says nothing of process_creation and ipc, which self-protection closes in part.
Records sample_run();

// The same launch before the program started: a dry run.
Records sample_preview();

// Replaces the events of the run's decision batch and makes run.closed agree with them.
void set_events(Records& run, std::vector<schema::Event> events);

}  // namespace aasm::claims::test
