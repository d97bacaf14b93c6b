#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "aasm/schema/digest.h"
#include "aasm/schema/result.h"
#include "aasm/sqlite/connection.h"

namespace aasm::verifier {

// What must be remembered of every run and blob, kept in a database of our own so that memory does
// not grow with the ledger: which runs ended, which blobs were named. One thread at a time.
class Spill {
 public:
  // At `path`, which may be removed afterwards.
  static schema::Result<Spill> make(const std::string& path);

  schema::Result<void> end_run(std::string_view run);
  schema::Result<bool> has_ended(std::string_view run);

  // `document` is the digest that the naming record states of the data, if it states one.
  schema::Result<void> name_blob(const schema::Sha256& blob,
                                 const std::optional<schema::Sha256>& document);
  // Rows (blob, document) in ascending order of blob; the document is empty where none is stated.
  schema::Result<sqlite::Statement> named_blobs();

  // For tables of other names: what salvage() keeps of a damaged file.
  sqlite::Connection& database() { return connection_; }

 private:
  Spill(sqlite::Connection connection, sqlite::Statement insert_run, sqlite::Statement find_run,
        sqlite::Statement insert_blob);

  sqlite::Connection connection_;
  sqlite::Statement insert_run_;
  sqlite::Statement find_run_;
  sqlite::Statement insert_blob_;
};

}  // namespace aasm::verifier
