#include "blob_check.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "aasm/crypto/hash.h"

namespace aasm::verifier {
namespace {

using schema::Bytes;
using schema::Result;
using schema::Sha256;
using sqlite::ColumnType;

constexpr std::size_t kSaltBytes = 32;
constexpr std::size_t kBlobMaxBytes = std::size_t{1} << 20U;

// The sorted names that records gave, read beside the sorted rows.
class Names {
 public:
  static Result<Names> open(Spill& spill) {
    Names names(AASM_TRY(spill.named_blobs()));
    AASM_TRY(names.read_next());
    return names;
  }

  // The documents that records state for `key`, and whether any record names it. Names that sort
  // before it have no row: `withheld` counts them.
  Result<bool> take(const Bytes& key, std::vector<Sha256>& documents, std::uint64_t& withheld) {
    documents.clear();
    AASM_TRY(skip(&key, withheld));
    bool named = false;
    while (next_ && *next_ == key) {
      named = true;
      if (document_) {
        documents.push_back(*document_);
      }
      AASM_TRY(read_next());
    }
    return named;
  }
  Result<void> take_rest(std::uint64_t& withheld) { return skip(nullptr, withheld); }

 private:
  explicit Names(sqlite::Statement rows) : rows_(std::move(rows)) {}

  Result<void> read_next() {
    next_.reset();
    if (AASM_TRY(rows_.step())) {
      const schema::ByteView key = AASM_TRY(rows_.column_blob(0));
      next_ = Bytes(key.begin(), key.end());
      const schema::ByteView document = AASM_TRY(rows_.column_blob(1));
      document_.reset();
      if (!document.empty()) {
        document_ = AASM_TRY(Sha256::from_span(document));
      }
    }
    return {};
  }

  Result<void> skip(const Bytes* until, std::uint64_t& withheld) {
    Bytes last;
    while (next_ && (until == nullptr || *next_ < *until)) {
      withheld += *next_ == last ? 0U : 1U;
      last = *next_;
      AASM_TRY(read_next());
    }
    return {};
  }

  sqlite::Statement rows_;
  std::optional<Bytes> next_;
  std::optional<Sha256> document_;
};

struct BlobRow {
  Bytes key;
  bool withheld = false;
  bool malformed = false;
  Sha256 digest;    // of salt || data
  Sha256 document;  // of data
};

Result<BlobRow> read_row(const sqlite::Statement& row) {
  BlobRow blob;
  if (AASM_TRY(row.column_type(0)) != ColumnType::kBlob) {
    blob.malformed = true;
    return blob;
  }
  const schema::ByteView key = AASM_TRY(row.column_blob(0));
  blob.key.assign(key.begin(), key.end());
  const ColumnType salt_type = AASM_TRY(row.column_type(1));
  const ColumnType data_type = AASM_TRY(row.column_type(2));
  blob.withheld = salt_type == ColumnType::kNull && data_type == ColumnType::kNull;
  blob.malformed = key.size() != 32;
  if (blob.withheld || blob.malformed) {
    return blob;
  }
  if (salt_type != ColumnType::kBlob || data_type != ColumnType::kBlob) {
    blob.malformed = true;
    return blob;
  }
  const schema::ByteView salt = AASM_TRY(row.column_blob(1));
  const schema::ByteView data = AASM_TRY(row.column_blob(2));
  blob.malformed = salt.size() != kSaltBytes || data.size() > kBlobMaxBytes;
  crypto::Sha256Hasher hasher;
  blob.digest = hasher.update(salt).update(data).finish();
  blob.document = crypto::sha256(data);
  return blob;
}

void judge_row(const BlobRow& blob, bool named, const std::vector<Sha256>& documents,
               FindingLog& findings) {
  const std::string key = schema::to_hex(blob.key);
  if (blob.malformed) {
    findings.add(FindingCode::kBlobMalformed, -1, {.detail = "blob " + key});
  }
  if (!named) {
    findings.add(FindingCode::kBlobUnnamed, -1, {.actual = key});
  }
  if (blob.withheld || blob.malformed) {
    return;
  }
  if (schema::to_hex(blob.digest.bytes) != key) {
    findings.add(FindingCode::kBlobDigest, -1, {.expected = key, .actual = blob.digest.hex()});
    return;
  }
  for (const Sha256& document : documents) {
    if (document != blob.document) {
      findings.add(
          FindingCode::kPolicyDocumentDiffers, -1,
          {.expected = document.hex(), .actual = blob.document.hex(), .detail = "blob " + key});
    }
  }
}

}  // namespace

Result<void> check_blobs(sqlite::Connection& connection, Spill& spill, Outcome& outcome) {
  Names names = AASM_TRY(Names::open(spill));
  sqlite::Statement rows =
      AASM_TRY(connection.prepare("SELECT sha256,salt,data FROM blobs ORDER BY sha256"));
  std::vector<Sha256> documents;
  std::uint64_t withheld = 0;
  while (AASM_TRY(rows.step())) {
    const BlobRow blob = AASM_TRY(read_row(rows));
    const bool named = AASM_TRY(names.take(blob.key, documents, withheld));
    ++outcome.coverage.blobs;
    withheld += named && blob.withheld ? 1U : 0U;
    judge_row(blob, named, documents, outcome.findings);
  }
  AASM_TRY(names.take_rest(withheld));
  outcome.coverage.blobs_withheld = withheld;
  if (withheld > 0) {
    outcome.findings.add(FindingCode::kBlobWithheld, -1,
                         {.actual = std::to_string(withheld) + " blobs"});
  }
  return {};
}

Result<void> check_anchors(sqlite::Connection& connection, Outcome& outcome) {
  sqlite::Statement rows =
      AASM_TRY(connection.prepare("SELECT size,sink,receipt FROM anchors ORDER BY size,sink"));
  sqlite::Statement checkpoint =
      AASM_TRY(connection.prepare("SELECT size FROM checkpoints WHERE size=?1"));
  while (AASM_TRY(rows.step())) {
    ++outcome.coverage.anchors;
    bool good = AASM_TRY(rows.column_type(0)) == ColumnType::kInteger &&
                AASM_TRY(rows.column_type(1)) == ColumnType::kText &&
                AASM_TRY(rows.column_type(2)) == ColumnType::kBlob;
    if (good) {
      const std::int64_t size = AASM_TRY(rows.column_int(0));
      AASM_TRY(checkpoint.bind_int(1, size));
      good = AASM_TRY(checkpoint.step());
      AASM_TRY(checkpoint.reset());
    }
    if (!good) {
      outcome.findings.add(FindingCode::kAnchorMalformed, -1,
                           {.expected = "size of a checkpoint, sink, receipt"});
    }
  }
  if (outcome.coverage.anchors > 0) {
    outcome.findings.add(FindingCode::kAnchorNotEvaluated, -1,
                         {.actual = std::to_string(outcome.coverage.anchors) + " rows"});
  }
  return {};
}

}  // namespace aasm::verifier
