#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "aasm/schema/digest.h"
#include "aasm/schema/result.h"

namespace aasm::sqlite {

struct StatementState;

enum class ColumnType : std::uint8_t { kInteger, kReal, kText, kBlob, kNull };

// One prepared statement. Parameters count from 1, columns from 0. Use it from the connection's
// thread. Nothing is converted: a column read as another type than it holds is kMalformed, so bytes
// from an untrusted file cannot pass as something else.
class Statement {
 public:
  ~Statement();
  Statement(Statement&&) noexcept;
  Statement& operator=(Statement&&) noexcept;
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  // Values are copied. Bindings stay over reset(). Binding while a row is current is an error.
  schema::Result<void> bind_int(int index, std::int64_t value);
  schema::Result<void> bind_text(int index, std::string_view value);
  schema::Result<void> bind_blob(int index, schema::ByteView value);  // empty is a blob, not NULL
  schema::Result<void> bind_null(int index);

  // True when a row is current, false when the statement is done. After false or a failure the
  // next call needs reset().
  schema::Result<bool> step();
  // Steps to the end, dropping rows, and resets: for statements that return none.
  schema::Result<void> run();
  schema::Result<void> reset();

  // Of the current row; any failure of these is a caller's mistake or a surprising file.
  int num_columns() const;
  schema::Result<ColumnType> column_type(int column) const;
  schema::Result<std::int64_t> column_int(int column) const;
  // The views stay valid until the next step(), reset() or the end of the statement.
  schema::Result<std::string_view> column_text(int column) const;
  schema::Result<schema::ByteView> column_blob(int column) const;
  std::string_view column_name(int column) const;  // empty when out of range

 private:
  friend class Connection;
  explicit Statement(std::unique_ptr<StatementState> state);

  std::unique_ptr<StatementState> state_;
};

}  // namespace aasm::sqlite
