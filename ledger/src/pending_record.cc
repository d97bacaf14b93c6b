#include "aasm/ledger/pending_record.h"

#include <time.h>

#include <algorithm>
#include <utility>

#include "aasm/crypto/hash.h"
#include "aasm/crypto/random.h"
#include "aasm/schema/utf8.h"

namespace aasm::ledger {
namespace {

using schema::Error;
using schema::ErrorCode;
using schema::Result;

constexpr std::size_t kSaltBytes = 32;
constexpr std::int64_t kNanosecondsPerSecond = 1000000000;

// json_write() aborts on other text; here a caller's mistake is an error of that one run.
bool has_only_utf8(const schema::JsonValue& value) {
  if (const std::string* text = value.as_string()) {
    return schema::is_valid_utf8(*text);
  }
  if (const auto* items = value.as_array()) {
    return std::all_of(items->begin(), items->end(), has_only_utf8);
  }
  if (const auto* members = value.as_object()) {
    return std::all_of(members->begin(), members->end(),
                       [](const auto& member) { return has_only_utf8(member.second); });
  }
  return true;
}

std::int64_t read_clock(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);  // cannot fail for clocks that exist
  return static_cast<std::int64_t>(now.tv_sec) * kNanosecondsPerSecond + now.tv_nsec;
}

}  // namespace

std::int64_t wall_now_ns() {
  return read_clock(CLOCK_REALTIME);
}

Result<PendingRecord> make_pending(const schema::RunId& run, const schema::RecordBody& body,
                                   const crypto::SigningKey& signer) {
  const std::int64_t wall_ns = wall_now_ns();
  const auto mono_ns = static_cast<std::uint64_t>(read_clock(CLOCK_BOOTTIME));
  std::string kind(schema::kind_of(body));
  schema::JsonValue json = schema::write_body(body);
  if (!has_only_utf8(json)) {
    return Error(ErrorCode::kInvalidArgument, kind + ": text that is not UTF-8");
  }
  const auto read = schema::read_body(kind, json);
  if (!read) {
    return Error(ErrorCode::kInvalidArgument, kind + ": " + read.error().message());
  }
  return PendingRecord{run, std::move(kind), std::move(json), wall_ns, mono_ns, &signer, {}};
}

Result<PendingBlob> make_blob(std::string data) {
  if (data.size() > kBlobMaxBytes) {
    return Error(ErrorCode::kResourceExhausted, "a blob is at most 1 MiB");
  }
  PendingBlob blob;
  blob.salt.resize(kSaltBytes);
  AASM_TRY(crypto::random_bytes(blob.salt));
  blob.data = std::move(data);
  crypto::Sha256Hasher hasher;
  blob.digest = hasher.update(blob.salt).update(schema::as_bytes(blob.data)).finish();
  return blob;
}

}  // namespace aasm::ledger
