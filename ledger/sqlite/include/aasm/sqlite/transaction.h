#pragma once

#include <memory>

#include "aasm/schema/result.h"

namespace aasm::sqlite {

struct TransactionState;

// An open transaction: rolled back when destroyed, unless commit() succeeded. One at a time on a
// connection, used from its thread.
class Transaction {
 public:
  ~Transaction();
  Transaction(Transaction&&) noexcept;
  Transaction& operator=(Transaction&&) noexcept;
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  // After a failure nothing is committed and destruction rolls back. kInvalidArgument the second
  // time.
  schema::Result<void> commit();

 private:
  friend class Connection;
  explicit Transaction(std::unique_ptr<TransactionState> state);

  std::unique_ptr<TransactionState> state_;
};

}  // namespace aasm::sqlite
