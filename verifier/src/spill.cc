#include "spill.h"

#include <utility>

namespace aasm::verifier {

using schema::Result;

// The file is scratch: nothing in it is worth a journal or a sync, and BEGIN without COMMIT keeps
// one transaction open for the whole life of the object.
Result<Spill> Spill::make(const std::string& path) {
  sqlite::Connection connection =
      AASM_TRY(sqlite::Connection::open(path, sqlite::OpenMode::kCreateNew));
  AASM_TRY(
      connection.execute("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;"
                         "PRAGMA cache_size=-2048; BEGIN;"
                         "CREATE TABLE ended(run TEXT PRIMARY KEY) WITHOUT ROWID;"
                         "CREATE TABLE named(blob BLOB, document BLOB,"
                         " PRIMARY KEY(blob,document)) WITHOUT ROWID;"));
  sqlite::Statement insert_run =
      AASM_TRY(connection.prepare("INSERT OR IGNORE INTO ended VALUES(?1)"));
  sqlite::Statement find_run = AASM_TRY(connection.prepare("SELECT 1 FROM ended WHERE run=?1"));
  sqlite::Statement insert_blob =
      AASM_TRY(connection.prepare("INSERT OR IGNORE INTO named VALUES(?1,?2)"));
  return Spill(std::move(connection), std::move(insert_run), std::move(find_run),
               std::move(insert_blob));
}

Spill::Spill(sqlite::Connection connection, sqlite::Statement insert_run,
             sqlite::Statement find_run, sqlite::Statement insert_blob)
    : connection_(std::move(connection)),
      insert_run_(std::move(insert_run)),
      find_run_(std::move(find_run)),
      insert_blob_(std::move(insert_blob)) {}

Result<void> Spill::end_run(std::string_view run) {
  AASM_TRY(insert_run_.bind_text(1, run));
  return insert_run_.run();
}

Result<bool> Spill::has_ended(std::string_view run) {
  AASM_TRY(find_run_.bind_text(1, run));
  const bool found = AASM_TRY(find_run_.step());
  AASM_TRY(find_run_.reset());
  return found;
}

Result<void> Spill::name_blob(const schema::Sha256& blob,
                              const std::optional<schema::Sha256>& document) {
  AASM_TRY(insert_blob_.bind_blob(1, blob.view()));
  AASM_TRY(insert_blob_.bind_blob(2, document ? document->view() : schema::ByteView()));
  return insert_blob_.run();
}

Result<sqlite::Statement> Spill::named_blobs() {
  return connection_.prepare("SELECT blob,document FROM named ORDER BY blob");
}

}  // namespace aasm::verifier
