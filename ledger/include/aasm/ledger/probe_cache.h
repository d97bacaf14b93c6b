#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "aasm/ledger/reader.h"
#include "aasm/schema/record_plan.h"
#include "aasm/schema/record_run.h"
#include "aasm/schema/result.h"

namespace aasm::ledger {

// How long a probe may be used again (docs/spec/product.md section 4).
inline constexpr std::chrono::hours kProbeLifetime{24};

struct CachedProbe {
  schema::CapabilityProbed body;     // with its domains, without a reference
  schema::ProbeReference reference;  // to put into this run's own record
};

// The newest earlier `capability.probed` record of `backend` measured under equal `conditions`, no
// older than kProbeLifetime at wall time `now_ns` and not from its future; nullopt when there is
// none, and when it says that the backend is unavailable: what was missing may have been provided.
// `probes` is the directory of hint files that LedgerSink leaves. A hint only says where to look:
// the record's leaf is recomputed, and its kind, backend and conditions are compared, so a wrong
// hint finds nothing.
schema::Result<std::optional<CachedProbe>> find_probe(LedgerReader& reader,
                                                      const std::string& probes,
                                                      std::string_view backend,
                                                      const schema::HostConditions& conditions,
                                                      std::int64_t now_ns);

}  // namespace aasm::ledger
