#include "forge.h"

#include <array>
#include <iterator>
#include <utility>

#include "aasm/crypto/hash.h"
#include "aasm/ledger_format/keys.h"
#include "aasm/ledger_format/merkle.h"
#include "aasm/ledger_format/note.h"
#include "aasm/ledger_format/pae.h"
#include "aasm/schema/base64.h"
#include "aasm/schema/plan_text.h"
#include "aasm/sqlite/connection.h"
#include "aasm/sqlite/ledger_schema.h"

namespace aasm::verifier::test {
namespace {

constexpr std::int64_t kStartWallNs = 1767225600000000000;  // 2026-01-01
constexpr const char* kBoot = "6f1a2b3c-0000-4000-8000-000000000001";

schema::KeyCertificate certificate(const Keys& keys, const std::string& origin,
                                   ledger_format::KeyPurpose purpose,
                                   const schema::PublicKey& key) {
  const crypto::Signature signature =
      ledger_format::sign_certificate(keys.root, origin, purpose, key).value();
  return {std::string(to_string(purpose)), key, schema::to_base64(signature)};
}

}  // namespace

Keys::Keys()
    : root(crypto::SigningKey::generate().value()),
      host(crypto::SigningKey::generate().value()),
      log(crypto::SigningKey::generate().value()) {}

ledger_format::TrustSet trust_in(const Keys& keys, const std::string& origin) {
  using ledger_format::NoteKeyType;
  using ledger_format::VerifierKey;
  ledger_format::TrustSet trust;
  trust.policy.logs.push_back(
      {VerifierKey::make(origin, NoteKeyType::kEd25519, keys.log.public_key()).value(), ""});
  trust.keys.roots.push_back(
      {origin, VerifierKey::make("root", NoteKeyType::kEd25519, keys.root.public_key()).value()});
  return trust;
}

void bind_plan(claims::test::Records& run) {
  using claims::test::body_of;
  schema::PlanResolved& plan = body_of<schema::PlanResolved>(run);
  plan.digest = crypto::sha256(schema::as_bytes(schema::plan_canonical_text(
      schema::plan_subject(body_of<schema::RunOpened>(run), body_of<schema::PolicyResolved>(run)),
      plan)));
}

schema::RunId run_id(int number) {
  std::array<std::uint8_t, 10> random{};
  random[9] = static_cast<std::uint8_t>(number);
  return schema::RunId::make(1767225600000 + static_cast<std::uint64_t>(number), random);
}

Forge::Forge(std::string origin) : origin_(std::move(origin)) {
  add_genesis();
}

schema::LedgerCreated Forge::genesis_body() const {
  schema::LedgerCreated body;
  body.origin = origin_;
  body.root = keys_->root.public_key();
  body.host =
      certificate(*keys_, origin_, ledger_format::KeyPurpose::kHost, keys_->host.public_key());
  body.log = certificate(*keys_, origin_, ledger_format::KeyPurpose::kLog, keys_->log.public_key());
  body.aasm_version = "0.1.0";
  return body;
}

void Forge::add_genesis() {
  records_.push_back(
      {schema::RunId(), "ledger.created", write_fields(genesis_body()), &keys_->host, {}, {}});
}

const crypto::SigningKey& Forge::run_key(int number) {
  const auto index = static_cast<std::size_t>(number);
  while (run_keys_.size() <= index) {
    run_keys_.push_back(
        std::make_shared<crypto::SigningKey>(crypto::SigningKey::generate().value()));
  }
  return *run_keys_[index];
}

ForgedRecord& Forge::add(int run, const schema::RecordBody& body) {
  const std::string kind(schema::kind_of(body));
  const bool by_host = kind == "run.opened" || kind == "run.recovered";
  records_.push_back({run_id(run),
                      kind,
                      schema::write_body(body),
                      by_host ? (host_ != nullptr ? host_ : &keys_->host) : &run_key(run),
                      {},
                      {}});
  return records_.back();
}

ForgedRecord& Forge::add_ledger(const schema::RecordBody& body, const crypto::SigningKey& signer) {
  records_.push_back({schema::RunId(),
                      std::string(schema::kind_of(body)),
                      schema::write_body(body),
                      &signer,
                      {},
                      {}});
  return records_.back();
}

ForgedRecord& Forge::add_unknown(const std::string& kind, const crypto::SigningKey& signer,
                                 std::optional<int> run) {
  records_.push_back({run ? run_id(*run) : schema::RunId(),
                      kind,
                      schema::JsonValue(schema::JsonValue::Object{}),
                      &signer,
                      {},
                      {}});
  return records_.back();
}

const crypto::SigningKey& Forge::log_at(std::uint64_t size) const {
  const auto after = logs_.upper_bound(size);
  return after == logs_.begin() ? keys_->log : *std::prev(after)->second;
}

void Forge::add_sample_run(int run) {
  claims::test::Records records = claims::test::sample_run();
  bind_plan(records);
  add_run(run, records);
}

void Forge::add_run(int run, const claims::test::Records& records) {
  for (const claims::test::Step& step : records) {
    schema::RecordBody body = step.body;
    if (auto* opened = std::get_if<schema::RunOpened>(&body)) {
      opened->run_key = run_key(run).public_key();
    }
    add(run, body);
  }
}

void Forge::add_opened(int run) {
  schema::RunOpened body;
  body.identity.agent_id = "agent";
  body.program = schema::PathBytes("/bin/true");
  body.working_dir = schema::PathBytes("/");
  body.aasm_version = "0.1.0";
  body.run_key = run_key(run).public_key();
  add(run, body);
}

schema::RunClosed Forge::refused_body(std::int64_t records) {
  schema::RunClosed body;
  body.ending = schema::RunEnding::kRefused;
  body.records = records;
  return body;
}

void Forge::add_closed(int run, std::int64_t records) {
  add(run, refused_body(records));
}

void Forge::add_short_run(int run) {
  add_opened(run);
  add_closed(run, 1);
}

void Forge::add_recovered(int run, const std::string& last_kind, bool may_have_run) {
  add(run, schema::RunRecovered{last_kind, may_have_run});
}

std::vector<Forge::Built> Forge::build() const {
  std::vector<Built> built;
  schema::LeafHash prev = ledger_format::genesis_prev(origin_);
  for (const ForgedRecord& record : records_) {
    const std::uint64_t seq = built.size();
    ledger_format::Envelope envelope;
    envelope.origin = origin_;
    envelope.seq = seq;
    envelope.prev = prev;
    envelope.run = record.run;
    envelope.kind = record.kind;
    envelope.wall_ns = kStartWallNs + static_cast<std::int64_t>(seq) * 1000000;
    envelope.mono_ns = seq * 1000000;
    envelope.boot = kBoot;
    envelope.key = ledger_format::key_id(record.signer->public_key());
    if (record.change_envelope) {
      record.change_envelope(envelope);
    }
    Built one;
    one.payload = ledger_format::build_payload(envelope, record.body).value();
    if (record.change_payload) {
      record.change_payload(one.payload);
    }
    const schema::Bytes pae = ledger_format::pae(schema::as_bytes(one.payload));
    one.prev = envelope.prev;
    one.leaf = ledger_format::leaf_hash(pae);
    one.key = envelope.key;
    one.signature = record.signer->sign(pae).value();
    prev = one.leaf;
    built.push_back(std::move(one));
  }
  return built;
}

bool Forge::has_checkpoint(std::uint64_t size) const {
  if (skipped_checkpoints.count(size) != 0) {
    return false;
  }
  const std::string& kind = records_[size - 1].kind;
  return extra_checkpoints.count(size) != 0 || kind == "run.closed" || kind == "run.recovered" ||
         kind.starts_with("key.") || size % 256 == 0 ||
         (checkpoint_at_end && size == records_.size());
}

void Forge::write(const std::string& path) const {
  sqlite::Connection db = sqlite::Connection::open(path, sqlite::OpenMode::kCreateNew).value();
  db.execute("PRAGMA synchronous=OFF").value();  // nothing here has to outlive the machine
  db.execute(std::string(sqlite::kLedgerSql)).value();
  db.execute("BEGIN").value();
  sqlite::Statement row = db.prepare("INSERT INTO records VALUES(?1,?2,?3,?4,?5,?6)").value();
  sqlite::Statement checkpoint = db.prepare("INSERT INTO checkpoints VALUES(?1,?2,?3)").value();
  ledger_format::CompactRange tree;
  for (const Built& one : build()) {
    row.bind_int(1, static_cast<std::int64_t>(tree.size())).value();
    row.bind_blob(2, one.prev.view()).value();
    row.bind_blob(3, one.leaf.view()).value();
    row.bind_blob(4, schema::as_bytes(one.payload)).value();
    row.bind_blob(5, one.key.view()).value();
    row.bind_blob(6, one.signature).value();
    row.run().value();
    tree.append(one.leaf);
    if (has_checkpoint(tree.size())) {
      checkpoint.bind_int(1, static_cast<std::int64_t>(tree.size())).value();
      const std::string note =
          ledger_format::sign_checkpoint({origin_, tree.size(), tree.root()}, log_at(tree.size()))
              .value();
      checkpoint.bind_blob(2, schema::as_bytes(note)).value();
      checkpoint.bind_blob(3, tree.frontier()).value();
      checkpoint.run().value();
    }
  }
  db.execute("COMMIT").value();
}

std::string Forge::note(std::uint64_t size) const {
  ledger_format::CompactRange tree;
  for (const Built& one : build()) {
    if (tree.size() == size) {
      break;
    }
    tree.append(one.leaf);
  }
  return ledger_format::sign_checkpoint({origin_, size, tree.root()}, log_at(size)).value();
}

}  // namespace aasm::verifier::test
