#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "aasm/crypto/ed25519.h"
#include "aasm/ledger_format/envelope.h"
#include "aasm/ledger_format/trust.h"
#include "aasm/schema/record.h"
#include "aasm/schema/uuid.h"

#include "claims/sample_run.h"

// Makes ledgers that no honest writer would make: every record, link, signature and checkpoint is
// put together here, so that a test can break one rule and keep all others.
namespace aasm::verifier::test {

struct Keys {
  Keys();
  crypto::SigningKey root;
  crypto::SigningKey host;
  crypto::SigningKey log;
};

inline constexpr const char* kOrigin = "aasm.example/ledger/0123456789abcdef";
inline constexpr const char* kOtherOrigin = "aasm.example/ledger/fedcba9876543210";

// Trust files that pin root and log of `keys` for `origin`.
ledger_format::TrustSet trust_in(const Keys& keys, const std::string& origin = kOrigin);

// Makes the digest of the plan that of the records: the sample run comes without one.
void bind_plan(claims::test::Records& run);

schema::RunId run_id(int number);  // different for every number, ascending

struct ForgedRecord {
  schema::RunId run;
  std::string kind;
  schema::JsonValue body;
  const crypto::SigningKey* signer = nullptr;
  std::function<void(ledger_format::Envelope&)> change_envelope;
  std::function<void(std::string&)> change_payload;  // signed and hashed as changed
};

class Forge {
 public:
  explicit Forge(std::string origin = kOrigin);

  const Keys& keys() const { return *keys_; }
  const std::string& origin() const { return origin_; }
  std::vector<ForgedRecord>& records() { return records_; }
  ForgedRecord& at(std::size_t seq) { return records_.at(seq); }

  // Record 0. Done by the constructor; a second one is a fault that a test may want.
  void add_genesis();
  schema::LedgerCreated genesis_body() const;

  // A key of its own for every run added.
  const crypto::SigningKey& run_key(int number);

  ForgedRecord& add(int run, const schema::RecordBody& body);  // signed by whom its kind demands
  // The sample run of the claims tests: 10 records, one denial that counts.
  void add_sample_run(int run);
  // Any run; its run.opened is given the run's key.
  void add_run(int run, const claims::test::Records& records);
  // run.opened and run.closed: a refused run.
  void add_short_run(int run);
  void add_opened(int run);
  void add_closed(int run, std::int64_t records);
  void add_recovered(int run, const std::string& last_kind, bool may_have_run);
  static schema::RunClosed refused_body(std::int64_t records);

  // A record of the ledger, signed by `signer`, which outlives this object.
  ForgedRecord& add_ledger(const schema::RecordBody& body, const crypto::SigningKey& signer);
  // A record of a kind that this version does not know, with an empty body; of no run unless one is
  // given. `signer` outlives this object.
  ForgedRecord& add_unknown(const std::string& kind, const crypto::SigningKey& signer,
                            std::optional<int> run = std::nullopt);
  // The host key that signs openings and recoveries from here on; the log key that signs
  // checkpoints from size records().size() on. Both outlive this object.
  void use_host(const crypto::SigningKey& key) { host_ = &key; }
  void use_log(const crypto::SigningKey& key) { logs_[records_.size()] = &key; }

  // Sizes to leave without, or to give, a checkpoint besides those that the cadence demands.
  std::set<std::uint64_t> skipped_checkpoints;
  std::set<std::uint64_t> extra_checkpoints;
  bool checkpoint_at_end = true;

  // Writes the database file; fails the test when it cannot.
  void write(const std::string& path) const;
  // The signed note over the first `size` records.
  std::string note(std::uint64_t size) const;

 private:
  struct Built {
    std::string payload;
    schema::LeafHash prev;
    schema::LeafHash leaf;
    schema::KeyId key;
    crypto::Signature signature{};
  };
  std::vector<Built> build() const;
  bool has_checkpoint(std::uint64_t size) const;

  const crypto::SigningKey& log_at(std::uint64_t size) const;

  const crypto::SigningKey* host_ = nullptr;
  std::map<std::uint64_t, const crypto::SigningKey*> logs_;
  std::string origin_;
  std::shared_ptr<Keys> keys_ = std::make_shared<Keys>();
  std::vector<ForgedRecord> records_;
  std::vector<std::shared_ptr<crypto::SigningKey>> run_keys_;
};

}  // namespace aasm::verifier::test
