#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <utility>

#include "aasm/ledger/store.h"
#include "aasm/ledger_format/keys.h"
#include "aasm/ledger_format/pae.h"
#include "aasm/schema/base64.h"
#include "aasm/schema/record_ledger.h"

#include "append.h"
#include "boot_id.h"
#include "head_file.h"
#include "private_files.h"

// Store::create(): the file, record 0 and the first checkpoint.
namespace aasm::ledger {
namespace {

using ledger_format::KeyPurpose;
using schema::Error;
using schema::ErrorCode;
using schema::Result;

Result<schema::KeyCertificate> certify(const RootKey& root, KeyPurpose purpose,
                                       const schema::PublicKey& key) {
  const crypto::Signature signature =
      AASM_TRY(ledger_format::sign_certificate(root.key, root.origin, purpose, key));
  return schema::KeyCertificate{std::string(ledger_format::to_string(purpose)), key,
                                schema::to_base64(signature)};
}

Result<schema::LedgerCreated> first_body(const RootKey& root, const KeySet& keys,
                                         const std::string& aasm_version) {
  schema::LedgerCreated body;
  body.origin = keys.origin;
  body.root = root.key.public_key();
  body.host = AASM_TRY(certify(root, KeyPurpose::kHost, keys.host.public_key()));
  body.log = AASM_TRY(certify(root, KeyPurpose::kLog, keys.log.public_key()));
  body.checkpoint_every = static_cast<std::int64_t>(kCheckpointEvery);
  body.aasm_version = aasm_version;
  return body;
}

// Writes the whole file under `path` and returns its checkpoint note.
Result<std::string> write_ledger(const std::string& path, const schema::LedgerCreated& body,
                                 const KeySet& keys, const StoreOptions& options) {
  const std::string boot = AASM_TRY(read_boot_id());
  LedgerDb db = AASM_TRY(LedgerDb::create(path));
  sqlite::Transaction transaction = AASM_TRY(db.begin());
  Head empty;
  empty.last_leaf = ledger_format::genesis_prev(keys.origin);
  Appender appender(db, keys, boot, options, std::move(empty), RunStates{});
  const PendingRecord first =
      AASM_TRY(make_pending(schema::RunId{}, schema::RecordBody(body), keys.host));
  AASM_TRY(appender.add(first));
  AASM_TRY(appender.add_checkpoint());
  AASM_TRY(transaction.commit());
  // Only now: the name is about to change, and a -wal file would keep the old one.
  if (AASM_TRY(db.connection().query_text("PRAGMA journal_mode=WAL")) != "wal") {
    return Error(ErrorCode::kUnsupported, "this file system cannot hold a database in WAL mode");
  }
  return appender.head().note;
}

Result<void> put_in_place(const std::string& temporary, const std::string& path) {
  {
    // No connection to it is open any more: closing a descriptor drops SQLite's locks.
    const Fd file(open(temporary.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC));
    if (!file.valid() || fsync(file.get()) != 0) {
      return os_error("syncing the new ledger", errno);
    }
  }
  if (renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) != 0) {
    return os_error("putting the ledger in place", errno);
  }
  return sync_directory(parent_of(path));
}

Result<void> check_origin_unused(const LedgerPaths& paths, const ledger_format::VerifierKey& log) {
  if (AASM_TRY(read_head_file(paths.heads, log)).has_value()) {
    return Error(ErrorCode::kIntegrity,
                 "a ledger of this origin was released before and is not where it should be");
  }
  return {};
}

void remove_database(const std::string& path) {
  for (const char* suffix : {"", "-wal", "-shm", "-journal"}) {
    unlink((path + suffix).c_str());
  }
}

}  // namespace

Result<void> Store::create(const LedgerPaths& paths, const RootKey& root, const KeySet& keys,
                           const std::string& aasm_version, const StoreOptions& options) {
  if (root.origin != keys.origin) {
    return Error(ErrorCode::kInvalidArgument, "the root key is of another origin");
  }
  if (access(paths.ledger.c_str(), F_OK) == 0) {
    return Error(ErrorCode::kConflict, "the ledger exists");
  }
  const ledger_format::VerifierKey log = AASM_TRY(ledger_format::VerifierKey::make(
      keys.origin, ledger_format::NoteKeyType::kEd25519, keys.log.public_key()));
  AASM_TRY(check_origin_unused(paths, log));
  // A log left by an earlier ledger of that name would be played into the new one.
  for (const char* suffix : {"-wal", "-journal"}) {
    if (access((paths.ledger + suffix).c_str(), F_OK) == 0) {
      return Error(ErrorCode::kConflict, "a log of an earlier ledger stands in the way");
    }
  }
  const schema::LedgerCreated body = AASM_TRY(first_body(root, keys, aasm_version));
  const std::string temporary = paths.ledger + ".new-" + AASM_TRY(random_suffix());
  Result<std::string> note = write_ledger(temporary, body, keys, options);
  Result<void> placed = note ? put_in_place(temporary, paths.ledger) : note.error();
  if (!placed) {
    remove_database(temporary);
    return std::move(placed).error().with_context("creating the ledger");
  }
  return release_head(paths.heads, log, 1, *note);
}

}  // namespace aasm::ledger
