#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "aasm/schema/digest.h"
#include "aasm/schema/record_run.h"
#include "aasm/schema/result.h"

// Hint files: probes/<name> holds "<seq> <leaf hex>\n", where to look for the newest probe of a
// backend under equal conditions. A hint proves nothing: the ledger row is always checked.
namespace aasm::ledger {

struct ProbeHint {
  std::uint64_t seq = 0;
  schema::LeafHash leaf;
};

// Hex of SHA-256 over the canonical JSON {"backend": id, "conditions": {...}}.
std::string probe_hint_name(std::string_view backend, const schema::HostConditions& conditions);

schema::Result<void> write_probe_hint(const std::string& directory, const std::string& name,
                                      const ProbeHint& hint);
// nullopt when there is none, or none that reads as one.
schema::Result<std::optional<ProbeHint>> read_probe_hint(const std::string& directory,
                                                         const std::string& name);

}  // namespace aasm::ledger
