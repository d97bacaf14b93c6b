#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "aasm/crypto/ed25519.h"
#include "aasm/crypto/hash.h"
#include "aasm/ledger/keystore.h"
#include "aasm/ledger/paths.h"
#include "aasm/ledger_format/envelope.h"
#include "aasm/ledger_format/keys.h"
#include "aasm/ledger_format/merkle.h"
#include "aasm/ledger_format/note.h"
#include "aasm/ledger_format/pae.h"
#include "aasm/ledger_format/vkey.h"
#include "aasm/sqlite/connection.h"
#include "aasm/sqlite/harden.h"
#include "aasm/sqlite/ledger_schema.h"

// A check of a whole ledger file that shares nothing with the writer but the format: what the
// tests of the writer go by. It is no verifier: it trusts the keys in `keys/`.
namespace aasm::test {

class LedgerCheck {
 public:
  // Empty when all is well, else the first thing that is wrong.
  static std::string run(const ledger::LedgerPaths& paths) {
    LedgerCheck check(paths);
    return check.check();
  }

  // How many records of each kind there are, and in which order; for expectations on content.
  static std::vector<std::string> kinds(const ledger::LedgerPaths& paths) {
    LedgerCheck check(paths);
    check.check();
    return check.kinds_;
  }

 private:
  explicit LedgerCheck(const ledger::LedgerPaths& paths)
      : paths_(paths),
        keys_(ledger::load_keys(paths.keys).value()),
        log_(ledger_format::VerifierKey::make(keys_.origin, ledger_format::NoteKeyType::kEd25519,
                                              keys_.log.public_key())
                 .value()),
        connection_(sqlite::Connection::open(paths.ledger, sqlite::OpenMode::kReadOnly).value()) {}

  std::string check() {
    if (sqlite::check_ledger_schema(connection_).value().verdict !=
        sqlite::SchemaVerdict::kMatches) {
      return "schema";
    }
    if (!sqlite::integrity_check(connection_, 1).value().empty()) {
      return "integrity_check";
    }
    std::string wrong = check_records();
    wrong = wrong.empty() ? check_checkpoints() : wrong;
    return wrong.empty() ? check_blobs() : wrong;
  }

  std::string check_records() {
    roots_.push_back(ledger_format::empty_root());
    frontiers_.emplace_back();
    sqlite::Statement rows =
        connection_.prepare("SELECT seq,prev,leaf,payload,keyid,sig FROM records ORDER BY seq")
            .value();
    schema::LeafHash last = ledger_format::genesis_prev(keys_.origin);
    while (rows.step().value()) {
      const std::string at = "record " + std::to_string(range_.size()) + ": ";
      const std::string payload(schema::as_text(rows.column_blob(3).value()));
      const auto parsed = ledger_format::parse_payload(payload);
      const auto* statement = std::get_if<ledger_format::Statement>(&parsed);
      if (statement == nullptr) {
        return at + "payload";
      }
      const schema::Bytes pae = ledger_format::pae(schema::as_bytes(payload));
      const schema::LeafHash leaf = ledger_format::leaf_hash(pae);
      const auto& envelope = statement->envelope;
      if (envelope.seq != range_.size() ||
          static_cast<std::uint64_t>(rows.column_int(0).value()) != range_.size()) {
        return at + "sequence";
      }
      if (envelope.prev != last ||
          schema::as_text(rows.column_blob(1).value()) != schema::as_text(last.view())) {
        return at + "prev";
      }
      if (schema::as_text(rows.column_blob(2).value()) != schema::as_text(leaf.view())) {
        return at + "leaf";
      }
      if (schema::as_text(rows.column_blob(4).value()) != schema::as_text(envelope.key.view())) {
        return at + "key id";
      }
      const std::string wrong = check_signer(*statement, pae, rows.column_blob(5).value());
      if (!wrong.empty()) {
        return at + wrong;
      }
      range_.append(leaf);
      last = leaf;
      roots_.push_back(range_.root());
      frontiers_.push_back(range_.frontier());
      payloads_ += payload;
    }
    return range_.size() == 0 ? "no records" : "";
  }

  std::string check_signer(const ledger_format::Statement& statement, const schema::Bytes& pae,
                           schema::ByteView signature) {
    const std::string& kind = statement.envelope.kind;
    const schema::RunId& run = statement.envelope.run;
    kinds_.push_back(kind);
    schema::PublicKey signer = keys_.host.public_key();
    if (kind == "run.opened") {
      const std::string* key = statement.body.find("run_key")->as_string();
      if (!open_.emplace(run, schema::PublicKey::from_hex_text(*key).value()).second) {
        return "a second run.opened";
      }
    } else if (kind != "ledger.created") {
      const auto found = open_.find(run);
      if (found == open_.end() || ended_.count(run) != 0) {
        return kind + " of a run that is not open";
      }
      signer = kind == "run.recovered" ? signer : found->second;
    }
    if (kind == "run.closed" || kind == "run.recovered") {
      ended_.insert(run);
      ends_.insert(statement.envelope.seq + 1);
    }
    if (statement.envelope.key != ledger_format::key_id(signer)) {
      return "signed by the wrong key";
    }
    return crypto::verify(signer, pae, signature) ? "" : "signature";
  }

  std::string check_checkpoints() {
    sqlite::Statement rows =
        connection_.prepare("SELECT size,note,frontier FROM checkpoints ORDER BY size").value();
    std::uint64_t before = 0;
    while (rows.step().value()) {
      const auto size = static_cast<std::uint64_t>(rows.column_int(0).value());
      const std::string at = "checkpoint " + std::to_string(size) + ": ";
      const auto note =
          ledger_format::parse_signed_checkpoint(schema::as_text(rows.column_blob(1).value()));
      if (!note ||
          ledger_format::verify_note(note->note, log_) != ledger_format::NoteVerdict::kVerified) {
        return at + "note";
      }
      if (size >= roots_.size() || note->checkpoint.size != size ||
          note->checkpoint.root != roots_[size]) {
        return at + "root";
      }
      const schema::ByteView frontier = rows.column_blob(2).value();
      if (schema::Bytes(frontier.begin(), frontier.end()) != frontiers_[size]) {
        return at + "frontier";
      }
      if (size - before > 256) {
        return at + "too far from the one before";
      }
      ends_.erase(size);
      before = size;
    }
    if (!ends_.empty()) {
      return "an end of a run without its checkpoint";
    }
    return range_.size() - before > 256 ? "a tail without checkpoints" : "";
  }

  std::string check_blobs() {
    sqlite::Statement rows = connection_.prepare("SELECT sha256,salt,data FROM blobs").value();
    while (rows.step().value()) {
      const auto digest = schema::Sha256::from_span(rows.column_blob(0).value()).value();
      crypto::Sha256Hasher hasher;
      hasher.update(rows.column_blob(1).value()).update(rows.column_blob(2).value());
      if (rows.column_blob(1).value().size() != 32 || hasher.finish() != digest) {
        return "blob digest";
      }
      if (payloads_.find(digest.hex()) == std::string::npos) {
        return "a blob that no record names";
      }
    }
    return "";
  }

  ledger::LedgerPaths paths_;
  ledger::KeySet keys_;
  ledger_format::VerifierKey log_;
  sqlite::Connection connection_;
  ledger_format::CompactRange range_;
  std::vector<schema::TreeHash> roots_;  // by tree size
  std::vector<schema::Bytes> frontiers_;
  std::vector<std::string> kinds_;
  std::map<schema::RunId, schema::PublicKey> open_;
  std::set<schema::RunId> ended_;
  std::set<std::uint64_t> ends_;  // sizes at which a checkpoint must stand
  std::string payloads_;
};

}  // namespace aasm::test
