#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "aasm/crypto/random.h"
#include "aasm/ledger/init.h"
#include "aasm/ledger/keystore.h"
#include "aasm/ledger/paths.h"
#include "aasm/ledger/pending_record.h"
#include "aasm/ledger/store.h"

#include "support/ledger_bodies.h"
#include "support/temp_dir.h"

namespace aasm::test {

inline schema::RunId new_run() {
  std::array<std::uint8_t, 10> random{};
  crypto::random_bytes(random).value();
  return schema::RunId::make(static_cast<std::uint64_t>(ledger::wall_now_ns()) / 1000000, random);
}

// A home directory with keys and a ledger of one record, gone with the object.
class LedgerHome {
 public:
  LedgerHome() { ledger::initialise(home(), paths(), {"test.example", "0.0.0"}).value(); }

  std::string home() const { return dir_.file("home"); }
  std::string file(const std::string& name) const { return dir_.file(name); }
  ledger::LedgerPaths paths() const { return ledger::LedgerPaths::in_home(home()); }
  ledger::KeySet keys() const { return ledger::load_keys(paths().keys).value(); }

  schema::Result<ledger::Store> try_open(ledger::StoreOptions options = {}) const {
    return ledger::Store::open(paths(), keys(), std::move(options));
  }
  ledger::Store open(ledger::StoreOptions options = {}) const {
    return try_open(std::move(options)).value();
  }

 private:
  TempDir dir_;
};

// One run as a store sees it: makes records signed by the right key.
class TestRun {
 public:
  TestRun() : id_(new_run()), key_(crypto::SigningKey::generate().value()) {}

  const schema::RunId& id() const { return id_; }
  const crypto::SigningKey& key() const { return key_; }

  ledger::PendingRecord opened(const ledger::Store& store) const {
    schema::RunOpened body = opened_body();
    body.run_key = key_.public_key();
    return ledger::make_pending(id_, body, store.host_key()).value();
  }
  ledger::PendingRecord record(const schema::RecordBody& body) const {
    return ledger::make_pending(id_, body, key_).value();
  }
  ledger::PendingRecord closed() const { return record(closed_body()); }
  std::vector<ledger::PendingRecord> batches(std::size_t count) const {
    std::vector<ledger::PendingRecord> records;
    for (std::size_t i = 0; i < count; ++i) {
      records.push_back(record(batch_body()));
    }
    return records;
  }

 private:
  schema::RunId id_;
  crypto::SigningKey key_;
};

}  // namespace aasm::test
