#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "aasm/claims/facts.h"
#include "aasm/schema/digest.h"
#include "aasm/schema/uuid.h"

namespace aasm::verifier {

// The wall and boot clock of a run's newest record, to notice that the wall clock was set.
struct RunClock {
  std::string boot;
  std::int64_t wall_ns = 0;
  std::uint64_t mono_ns = 0;
};

// What is remembered of a run while it is open.
struct Run {
  schema::RunId id;
  std::int64_t opened_seq = 0;
  std::int64_t last_seq = 0;
  schema::PublicKey key;  // from run.opened: that record is its certificate
  schema::KeyId key_id;
  std::int64_t records = 0;
  std::string last_kind;
  bool started = false;
  bool may_have_run = false;  // a record that permits the start stands
  bool recovered = false;
  std::string list_kind;  // a list of several parts is under way in this kind
  RunClock clock;
  std::unique_ptr<claims::RunFacts> facts;  // only in scope
  std::size_t held_bytes = 0;               // of payloads that the facts keep in some form
};

}  // namespace aasm::verifier
