#pragma once

#include <cstdint>
#include <optional>

#include "aasm/schema/result.h"
#include "aasm/sqlite/connection.h"

#include "record_view.h"

namespace aasm::verifier {

// The rows of `records` by rowid, without any index (a doctored index could hide rows). Types and
// lengths are looked at before bytes.
class RecordRows {
 public:
  static schema::Result<RecordRows> open(sqlite::Connection& connection);
  // False at the end.
  schema::Result<bool> next(RawRecord& out);

 private:
  explicit RecordRows(sqlite::Statement rows) : rows_(std::move(rows)) {}

  sqlite::Statement rows_;
  bool at_end_ = false;  // a finished statement may not be stepped again
};

// The largest sequence number, for progress; -1 when there are no records.
schema::Result<std::int64_t> last_seq(sqlite::Connection& connection);

// The payload of one record, or nullopt.
schema::Result<std::optional<schema::Bytes>> read_payload(sqlite::Connection& connection,
                                                          std::int64_t seq);

}  // namespace aasm::verifier
