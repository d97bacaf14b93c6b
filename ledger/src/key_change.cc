#include "aasm/ledger/key_change.h"

#include <algorithm>
#include <utility>

#include "aasm/ledger/store.h"
#include "aasm/schema/base64.h"
#include "aasm/schema/record.h"

#include "key_limits.h"
#include "key_session.h"
#include "key_slots.h"

namespace aasm::ledger {
namespace {

using crypto::SigningKey;
using ledger_format::KeyPurpose;
using schema::Error;
using schema::ErrorCode;
using schema::Result;

Result<PendingRecord> rotation_record(const std::string& origin, KeyPurpose purpose,
                                      const SigningKey& old_key, const SigningKey& new_key,
                                      const SigningKey& host) {
  schema::KeyRotated body;
  body.purpose = std::string(to_string(purpose));
  body.old_key = old_key.public_key();
  body.new_key = new_key.public_key();
  body.new_signature = schema::to_base64(
      AASM_TRY(ledger_format::sign_rotation(new_key, origin, old_key.public_key())));
  if (purpose == KeyPurpose::kLog) {
    const std::string message =
        ledger_format::rotation_message(origin, old_key.public_key(), new_key.public_key());
    body.old_signature = schema::to_base64(AASM_TRY(old_key.sign(schema::as_bytes(message))));
  }
  return make_pending(schema::RunId(), schema::RecordBody(body), host);
}

Result<PendingRecord> replacement_record(const RootKey& root, KeyPurpose purpose,
                                         const schema::PublicKey& old_key,
                                         const SigningKey& new_key, const SigningKey& host) {
  schema::KeyReplaced body;
  body.certificate = {std::string(to_string(purpose)), new_key.public_key(),
                      schema::to_base64(AASM_TRY(ledger_format::sign_certificate(
                          root.key, root.origin, purpose, new_key.public_key())))};
  body.old_key = old_key;
  return make_pending(schema::RunId(), schema::RecordBody(body), host);
}

// Record 0 names the root; another one's word would make the ledger fail.
Result<void> check_root(KeySession& session, const RootKey& root) {
  bool same = false;
  const auto look = [&](const RecordRow& row) -> Result<void> {
    same = row.payload.find("\"root\":\"" + root.key.public_key().hex() + "\"") !=
           std::string_view::npos;
    return {};
  };
  AASM_TRY(session.db().visit_record(0, look));
  if (!same || root.origin != session.history().origin()) {
    return Error(ErrorCode::kInvalidArgument, "root.key is of origin " + root.origin +
                                                  " and not the root of this ledger, " +
                                                  session.history().origin());
  }
  return {};
}

KeyChanged newest(const LedgerPaths& paths, const std::string& checkpoint, std::size_t count) {
  Result<std::vector<LedgerKey>> keys = list_keys(paths);
  KeyChanged changed{{}, {}, checkpoint};
  if (keys && keys->size() >= count) {
    changed.keys.assign(keys->end() - static_cast<std::ptrdiff_t>(count), keys->end());
  }
  return changed;
}

// The record is signed by the host key that was in force, whichever of the two goes. It borrows
// that key until it is committed.
Result<std::string> commit_host_rotation(KeySession& session, const std::string& origin,
                                         const SigningKey& host, SigningKey log, SigningKey fresh) {
  const PendingRecord record =
      AASM_TRY(rotation_record(origin, KeyPurpose::kHost, host, fresh, host));
  return session.commit({origin, std::move(fresh), std::move(log)}, {record});
}

Result<std::string> commit_log_rotation(KeySession& session, const std::string& origin,
                                        SigningKey host, const SigningKey& log, SigningKey fresh) {
  const KeySet next{origin, std::move(host), std::move(fresh)};
  const PendingRecord record =
      AASM_TRY(rotation_record(origin, KeyPurpose::kLog, log, next.log, next.host));
  return session.commit(next, {record});
}

// A key of this ledger that is in force no more, or why it cannot be revoked.
Result<LedgerKey> retired_key(const KeyHistory& history, const schema::KeyId& id) {
  const std::vector<LedgerKey> keys = keys_of(history);
  const auto found =
      std::find_if(keys.begin(), keys.end(), [&id](const auto& one) { return one.id == id; });
  if (found == keys.end()) {
    return Error(ErrorCode::kNotFound,
                 "the ledger never had a key " + id.hex() + "; see 'aasm key list'");
  }
  if (!found->until) {
    const std::string purpose(to_string(found->purpose));
    return Error(ErrorCode::kConflict, "this " + purpose +
                                           " key is in force; first put another "
                                           "in its place: aasm key replace " +
                                           purpose);
  }
  return *found;
}

// The limit of a revocation: as asked, or where the key was retired.
Result<std::uint64_t> limit_of(KeySession& session, const schema::KeyId& id,
                               std::optional<std::uint64_t> asked, bool close_ledger) {
  const LedgerKey key = AASM_TRY(retired_key(session.history(), id));
  const std::uint64_t retired = retired_limit(session.history(), key);
  const std::uint64_t limit = asked.value_or(retired);
  if (limit > retired) {
    return Error(ErrorCode::kInvalidArgument, "the key was retired at " + std::to_string(retired) +
                                                  "; the limit is at most that");
  }
  const auto after = AASM_TRY(signed_after(session.db(), key, limit, retired));
  if (after && !close_ledger) {
    return Error(
        ErrorCode::kConflict,
        "the key signed record " + std::to_string(*after) +
            " or the checkpoint over it: "
            "with this limit the ledger fails verification from now on; add --close-ledger "
            "to record that, and go on in a new home (aasm init)");
  }
  return limit;
}

// Whoever appends ends dead runs first (docs/spec/ledger-format.md rule 4.6), and opening does it.
// Without the keys nobody can, and the change says itself which one it lacks.
Result<void> recover_runs(const LedgerPaths& paths) {
  Result<KeySet> keys = load_keys(paths.keys);
  if (keys) {
    AASM_TRY(Store::open(paths, std::move(*keys)));
  }
  return {};
}

// The same for a change that must not depend on keys at hand, once it stands: what fails here, the
// next writer does.
void recover_runs_behind(const LedgerPaths& paths) {
  [[maybe_unused]] const Result<void> recovered = recover_runs(paths);
}

}  // namespace

Result<std::vector<LedgerKey>> list_keys(const LedgerPaths& paths) {
  LedgerDb db = AASM_TRY_CONTEXT(LedgerDb::open(paths.ledger), "opening the ledger");
  const KeyHistory history = AASM_TRY(KeyHistory::scan(db));
  std::vector<LedgerKey> keys = keys_of(history);
  for (LedgerKey& key : keys) {
    key.held =
        !key.until &&
        load_key_in_force(paths.keys, history.origin(), history.in_force(key.purpose)).has_value();
  }
  return keys;
}

Result<KeyChanged> rotate_key(const LedgerPaths& paths, KeyPurpose purpose) {
  AASM_TRY(recover_runs(paths));
  std::string origin;
  std::string note;
  {
    KeySession session = AASM_TRY(KeySession::begin(paths));
    origin = session.history().origin();
    SigningKey host = AASM_TRY(session.load(KeyPurpose::kHost));
    SigningKey log = AASM_TRY(session.load(KeyPurpose::kLog));
    SigningKey fresh = AASM_TRY(SigningKey::generate());
    AASM_TRY(session.stage(purpose, fresh));
    if (purpose == KeyPurpose::kHost) {
      note =
          AASM_TRY(commit_host_rotation(session, origin, host, std::move(log), std::move(fresh)));
    } else {
      note = AASM_TRY(commit_log_rotation(session, origin, std::move(host), log, std::move(fresh)));
    }
  }
  KeyChanged changed = newest(paths, note, 1);
  changed.origin = origin;
  return changed;
}

Result<KeyChanged> replace_keys(const LedgerPaths& paths, const RootKey& root,
                                const std::vector<KeyPurpose>& purposes) {
  const auto asked = [&purposes](KeyPurpose purpose) {
    return std::find(purposes.begin(), purposes.end(), purpose) != purposes.end();
  };
  if (purposes.empty()) {
    return Error(ErrorCode::kInvalidArgument, "no key to replace");
  }
  std::string note;
  {
    KeySession session = AASM_TRY(KeySession::begin(paths));
    AASM_TRY(check_root(session, root));
    const auto take = [&](KeyPurpose purpose) {
      return asked(purpose) ? SigningKey::generate() : session.load(purpose);
    };
    SigningKey host = AASM_TRY(take(KeyPurpose::kHost));
    SigningKey log = AASM_TRY(take(KeyPurpose::kLog));
    const KeySet next{root.origin, std::move(host), std::move(log)};
    std::vector<PendingRecord> records;
    for (const KeyPurpose purpose : {KeyPurpose::kHost, KeyPurpose::kLog}) {
      if (!asked(purpose)) {
        continue;
      }
      const SigningKey& fresh = purpose == KeyPurpose::kHost ? next.host : next.log;
      AASM_TRY(session.stage(purpose, fresh));
      records.push_back(AASM_TRY(replacement_record(
          root, purpose, session.history().in_force(purpose).key, fresh, next.host)));
    }
    note = AASM_TRY(session.commit(next, records));
  }
  recover_runs_behind(paths);
  KeyChanged changed = newest(paths, note, purposes.size());
  changed.origin = root.origin;
  return changed;
}

Result<KeyRevokedReport> revoke_key(const LedgerPaths& paths, const RootKey& root,
                                    const schema::KeyId& key, std::optional<std::uint64_t> limit,
                                    bool close_ledger) {
  KeyRevokedReport done;
  {
    KeySession session = AASM_TRY(KeySession::begin(paths));
    AASM_TRY(check_root(session, root));
    const std::string& origin = session.history().origin();
    done = {origin, key, AASM_TRY(limit_of(session, key, limit, close_ledger)), session.records()};
    const KeySet in_force{origin, AASM_TRY(session.load(KeyPurpose::kHost)),
                          AASM_TRY(session.load(KeyPurpose::kLog))};
    schema::KeyRevoked body{key, done.limit, {}};
    body.signature = schema::to_base64(
        AASM_TRY(ledger_format::sign_revocation(root.key, root.origin, key, done.limit)));
    std::vector<PendingRecord> records;
    records.push_back(
        AASM_TRY(make_pending(schema::RunId(), schema::RecordBody(body), in_force.host)));
    AASM_TRY(session.commit(in_force, records));
  }
  recover_runs_behind(paths);
  return done;
}

}  // namespace aasm::ledger
