#include "aasm/ledger/probe_cache.h"

#include <utility>

#include "aasm/schema/fields.h"

#include "probe_hint.h"

namespace aasm::ledger {
namespace {

using schema::ErrorCode;
using schema::Result;

bool is_fresh(std::int64_t wall_ns, std::int64_t now_ns) {
  const std::int64_t lifetime = std::chrono::nanoseconds(kProbeLifetime).count();
  return wall_ns <= now_ns && now_ns - wall_ns <= lifetime;
}

}  // namespace

Result<std::optional<CachedProbe>> find_probe(LedgerReader& reader, const std::string& probes,
                                              std::string_view backend,
                                              const schema::HostConditions& conditions,
                                              std::int64_t now_ns) {
  const std::optional<ProbeHint> hint =
      AASM_TRY_CONTEXT(read_probe_hint(probes, probe_hint_name(backend, conditions)),
                       "looking for an earlier probe");
  if (!hint) {
    return std::optional<CachedProbe>();
  }
  const Result<StoredRecord> record = reader.record(hint->seq);
  if (!record) {
    // Another ledger stands here now, or a damaged row: either way there is no probe to reuse.
    const ErrorCode code = record.error().code();
    if (code == ErrorCode::kNotFound || code == ErrorCode::kIntegrity) {
      return std::optional<CachedProbe>();
    }
    return record.error();
  }
  if (record->leaf != hint->leaf || record->statement.envelope.kind != "capability.probed" ||
      !is_fresh(record->statement.envelope.wall_ns, now_ns)) {
    return std::optional<CachedProbe>();
  }
  Result<schema::CapabilityProbed> body =
      schema::read_fields<schema::CapabilityProbed>(record->statement.body);
  if (!body || body->reference || body->domains.empty() || !body->available ||
      body->backend.id != backend || body->conditions != conditions) {
    return std::optional<CachedProbe>();
  }
  return std::optional<CachedProbe>(
      CachedProbe{std::move(*body), {static_cast<std::int64_t>(hint->seq), hint->leaf}});
}

}  // namespace aasm::ledger
