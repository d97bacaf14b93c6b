#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "aasm/schema/record_witness.h"

#include "audit_text.h"

namespace aasm::backend_native {

// Sorts what the host's audit tells into what concerns one run: the domains that its launch child
// made, their denials before and after the start, and their ends. Bounded. One thread at a time.
class WitnessTally {
 public:
  explicit WitnessTally(pid_t launch_child) : launch_child_(launch_child) {}

  void add(const audit::Record& record);
  // Denials of this millisecond and of those before it are the canaries'.
  void start_after(std::int64_t time_ms) { started_ms_ = time_ms; }
  void note_overrun() { report_.overruns += 1; }

  std::int64_t before_start() const { return report_.before_start; }
  bool all_ended() const;

  // Counts and denials; the caller adds what it knows of the host.
  schema::WitnessReported report() const;

 private:
  using Key = std::tuple<std::string, std::string, std::string, std::uint64_t, std::string>;
  struct Domain {
    std::optional<std::int64_t> counted;  // once it has ended
  };

  void take(const audit::Record& record, const audit::Denial& denial);
  void learn(const audit::DomainMade& made);
  void list(const audit::Denial& denial);

  const pid_t launch_child_;
  std::optional<std::int64_t> started_ms_;
  std::map<std::uint64_t, Domain> domains_;
  std::deque<audit::Record> unclaimed_;  // denials of domains not heard of, which may be ours
  std::map<Key, std::size_t> listed_;    // place in report_.denials
  std::size_t listed_bytes_ = 0;
  schema::WitnessReported report_;
};

}  // namespace aasm::backend_native
