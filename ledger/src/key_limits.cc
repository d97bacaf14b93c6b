#include "key_limits.h"

#include <algorithm>
#include <string>

namespace aasm::ledger {
namespace {

using ledger_format::KeyPurpose;
using schema::Error;
using schema::ErrorCode;
using schema::Result;

LedgerKey listed(const KeyHistory& history, std::size_t at) {
  const KeyIntroduction& one = history.introductions()[at];
  LedgerKey key{one.purpose, one.key, ledger_format::key_id(one.key), one.seq, {}, {}, false};
  for (std::size_t later = at + 1; later < history.introductions().size(); ++later) {
    if (history.introductions()[later].purpose == one.purpose) {
      key.until = history.introductions()[later].seq;
      break;
    }
  }
  for (const KeyRevocation& revoked : history.revocations()) {
    if (revoked.key == key.id) {
      key.revoked_limit = std::min(revoked.limit, key.revoked_limit.value_or(revoked.limit));
    }
  }
  return key;
}

}  // namespace

std::vector<LedgerKey> keys_of(const KeyHistory& history) {
  std::vector<LedgerKey> keys;
  for (std::size_t at = 0; at < history.introductions().size(); ++at) {
    keys.push_back(listed(history, at));
  }
  return keys;
}

std::uint64_t retired_limit(const KeyHistory& history, const LedgerKey& key) {
  const auto ended_by = std::find_if(
      history.introductions().begin(), history.introductions().end(),
      [&key](const auto& one) { return one.purpose == key.purpose && one.seq == *key.until; });
  const bool signs_its_end = ended_by->rotated && key.purpose == KeyPurpose::kHost;
  return *key.until + (signs_its_end ? 1 : 0);
}

Result<std::optional<std::uint64_t>> signed_after(LedgerDb& db, const LedgerKey& key,
                                                  std::uint64_t limit, std::uint64_t end) {
  std::optional<std::uint64_t> found;
  if (key.purpose == KeyPurpose::kLog) {
    for (std::uint64_t size = std::max(limit, key.since) + 1; size <= end && !found; ++size) {
      if (AASM_TRY(db.checkpoint_of_size(size))) {
        found = size - 1;
      }
    }
    return found;
  }
  const std::string named = "\"key\":\"" + key.id.hex() + "\"";
  const auto look = [&](const RecordRow& row) -> Result<void> {
    if (row.payload.find(named) != std::string_view::npos) {
      found = row.seq;
    }
    return {};
  };
  for (std::uint64_t seq = std::max(limit, key.since); seq < end && !found; ++seq) {
    AASM_TRY(db.visit_record(seq, look));
  }
  return found;
}

Result<void> check_not_closed(LedgerDb& db, const KeyHistory& history) {
  if (history.revocations().empty()) {
    return {};
  }
  for (const LedgerKey& key : keys_of(history)) {
    if (!key.revoked_limit || !key.until) {
      continue;
    }
    const auto past =
        AASM_TRY(signed_after(db, key, *key.revoked_limit, retired_limit(history, key)));
    if (past) {
      return Error(ErrorCode::kIntegrity,
                   "the ledger is closed: its " + std::string(to_string(key.purpose)) + " key " +
                       key.id.hex() + " is revoked from size " +
                       std::to_string(*key.revoked_limit) +
                       " on and signed past it, so that it "
                       "fails verification; go on in a new home (AASM_HOME, then 'aasm init')");
    }
  }
  return {};
}

}  // namespace aasm::ledger
