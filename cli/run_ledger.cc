#include "run_ledger.h"

#include <utility>

#include "aasm/ledger/keystore.h"
#include "aasm/ledger/reader.h"
#include "aasm/ledger/run_receipt.h"

namespace aasm::cli {

using schema::Error;
using schema::ErrorCode;
using schema::Result;

ledger::LedgerPaths ledger_paths(const Home& home, const CommonOptions& common) {
  return common.ledger.empty() ? ledger::LedgerPaths::in_home(home.root())
                               : ledger::LedgerPaths::with_ledger(home.root(), common.ledger);
}

namespace {

// A home without one of its keys is not one that was never initialised.
Result<ledger::KeySet> load_keys(const ledger::LedgerPaths& paths) {
  Result<ledger::KeySet> keys = ledger::load_keys(paths.keys);
  if (!keys && keys.error().code() == ErrorCode::kNotFound) {
    return Error(ErrorCode::kUnavailable,
                 keys.error().message() +
                     "; put the file back, or put a new key in its place with 'aasm key replace'",
                 keys.error().os_errno());
  }
  return keys;
}

// Says whose error it is.
Result<ledger::Store> open_with_keys(const ledger::LedgerPaths& paths,
                                     ledger::StoreOptions options) {
  bool lacks_keys = false;
  const auto keys = [&]() -> Result<ledger::KeySet> {
    lacks_keys = true;
    ledger::KeySet loaded = AASM_TRY_CONTEXT(load_keys(paths), "keys");
    lacks_keys = false;
    return loaded;
  };
  Result<ledger::Store> store = ledger::Store::open(paths, keys, std::move(options));
  if (store || lacks_keys) {
    return store;
  }
  Error error = std::move(store).error();
  if (error.code() == ErrorCode::kPermissionDenied) {
    error = Error(error.code(),
                  error.message() +
                      "; nothing runs unrecorded: make it writable, or set AASM_HOME to a place "
                      "that is and run 'aasm init'",
                  error.os_errno());
  }
  return std::move(error).with_context("ledger");
}

Result<ledger::Store> open_store(const Home& home, const ledger::LedgerPaths& paths,
                                 ledger::StoreOptions options) {
  AASM_TRY(home.require_initialised());
  return open_with_keys(paths, std::move(options));
}

}  // namespace

Result<RunLedger> RunLedger::begin(const Home& home, const CommonOptions& common) {
  RunLedger self;
  self.paths_ = ledger_paths(home, common);
  self.sink_ = AASM_TRY(ledger::LedgerSink::begin(
      [home, paths = self.paths_](ledger::StoreOptions options) {
        return open_store(home, paths, std::move(options));
      },
      self.paths_));
  return self;
}

Result<std::string> RunLedger::receipt(const schema::RunId& run) const {
  ledger::LedgerReader reader = AASM_TRY(ledger::LedgerReader::open(paths_.ledger));
  return ledger::build_run_receipt(reader, run);
}

}  // namespace aasm::cli
