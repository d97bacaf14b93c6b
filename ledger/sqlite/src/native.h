#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "aasm/schema/error.h"
#include "aasm/sqlite/connection.h"
#include "aasm/sqlite/harden.h"

struct sqlite3;

namespace aasm::sqlite {

// State that SQLite's callbacks read; lives as long as the connection.
struct ReadGuard {
  std::optional<std::chrono::steady_clock::time_point> deadline;
  std::optional<Allowance> allowance;
};

// What stands behind a Connection. The adapter derives from it the type that owns the handle, so
// that closing comes before the guard goes.
struct Native {
  Native() = default;
  Native(const Native&) = delete;
  Native& operator=(const Native&) = delete;
  virtual ~Native() = default;

  sqlite3* handle = nullptr;
  int extended_code = 0;
  ReadGuard guard;
};

struct NativeAccess {
  static Native& of(Connection& connection) { return *connection.native_; }
  static const Native& of(const Connection& connection) { return *connection.native_; }
};

}  // namespace aasm::sqlite
