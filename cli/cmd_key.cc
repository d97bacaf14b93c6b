#include <algorithm>
#include <utility>

#include "aasm/crypto/prepare.h"
#include "aasm/ledger/key_change.h"
#include "aasm/ledger/keystore.h"
#include "aasm/ledger/paths.h"
#include "aasm/ledger_format/trust.h"
#include "aasm/ledger_format/vkey.h"

#include "commands.h"
#include "exit_status.h"
#include "files.h"
#include "home.h"
#include "output_file.h"
#include "print.h"

namespace aasm::cli {
namespace {

using ledger::LedgerKey;
using ledger_format::KeyPurpose;
using schema::Error;
using schema::ErrorCode;
using schema::JsonValue;
using schema::Result;

Result<ledger::LedgerPaths> paths_of(const CommonOptions& common) {
  const Home home = AASM_TRY(Home::locate());
  if (common.ledger.empty()) {
    AASM_TRY(home.require_initialised());
  }
  return common.ledger.empty()
             ? ledger::LedgerPaths::in_home(home.root())
             : ledger::LedgerPaths::with_ledger(home.root(), absolute_path(common.ledger));
}

Result<ledger::RootKey> load_root(const std::string& stated, const ledger::LedgerPaths& paths) {
  const std::string directory = stated.empty() ? paths.keys : stated;
  Result<ledger::RootKey> root = ledger::load_root_key(directory);
  if (!root && root.error().code() == ErrorCode::kNotFound) {
    return Error(ErrorCode::kNotFound, "there is no root.key in " + directory +
                                           ": name the directory where you keep it with --root");
  }
  return root;
}

JsonValue as_json(const LedgerKey& key) {
  const auto number = [](std::uint64_t value) { return static_cast<std::int64_t>(value); };
  JsonValue::Object object{{"purpose", std::string(to_string(key.purpose))},
                           {"id", key.id.hex()},
                           {"public", key.key.hex()},
                           {"since", number(key.since)},
                           {"held", key.held}};
  if (key.until) {
    object.emplace_back("until", number(*key.until));
  }
  if (key.revoked_limit) {
    object.emplace_back("revoked_limit", number(*key.revoked_limit));
  }
  return object;
}

std::string as_line(const LedgerKey& key) {
  std::string purpose(to_string(key.purpose));
  purpose.resize(6, ' ');
  std::string line = purpose + key.id.hex() + "  since record " + std::to_string(key.since);
  line += key.until ? ", until record " + std::to_string(*key.until)
                    : std::string(key.held ? ", in force" : ", in force, its key file is not here");
  if (key.revoked_limit) {
    line += ", revoked from size " + std::to_string(*key.revoked_limit);
  }
  return line + "\n";
}

JsonValue as_json(const std::vector<LedgerKey>& keys) {
  JsonValue::Array items;
  for (const LedgerKey& key : keys) {
    items.push_back(as_json(key));
  }
  return items;
}

Result<void> list(const KeyListCommand& command) {
  const ledger::LedgerPaths paths = AASM_TRY(paths_of(command.common));
  const std::vector<LedgerKey> keys = AASM_TRY(ledger::list_keys(paths));
  if (command.common.format == Format::kJson) {
    print_json(
        JsonValue::Object{{"schema", "aasm.keys/1"}, {"verified", false}, {"keys", as_json(keys)}});
    return {};
  }
  std::string text = "not verified: this is what the file says; 'aasm verify' judges it\n";
  for (const LedgerKey& key : keys) {
    text += as_line(key);
  }
  print_out(text);
  return {};
}

// Adds the new log key to this home's trust file, beside the earlier one: notes of both are kept.
Result<std::string> pin_log(const CommonOptions& common, const ledger::KeyChanged& changed) {
  const Home home = AASM_TRY(Home::locate());
  const std::string trust = common.trust.empty() ? home.trust() : common.trust;
  std::string added;
  for (const LedgerKey& key : changed.keys) {
    if (key.purpose == KeyPurpose::kLog) {
      added = "log " +
              AASM_TRY(ledger_format::VerifierKey::make(
                           changed.origin, ledger_format::NoteKeyType::kEd25519, key.key))
                  .text() +
              "\n";
    }
  }
  if (added.empty()) {
    return std::string();
  }
  const Result<std::string> standing = read_small_file(trust, ledger_format::kTrustMaxBytes);
  const std::string whole = (standing ? *standing : std::string()) + added;
  const Result<ledger_format::TrustPolicy> reads = ledger_format::parse_trust_policy(whole);
  if (!standing || !reads) {
    return "trust   add this line to " + trust + ": " + added;
  }
  OutputFile file = AASM_TRY(OutputFile::open(trust));
  AASM_TRY(file.write(whole));
  return "trust   " + trust + ": give it to whoever verifies elsewhere\n";
}

Result<void> change(const KeyChangeCommand& command) {
  const ledger::LedgerPaths paths = AASM_TRY(paths_of(command.common));
  std::vector<KeyPurpose> purposes;
  if (command.which != "log") {
    purposes.push_back(KeyPurpose::kHost);
  }
  if (command.which != "host") {
    purposes.push_back(KeyPurpose::kLog);
  }
  ledger::KeyChanged changed;
  if (command.replace) {
    const ledger::RootKey root = AASM_TRY(load_root(command.root_dir, paths));
    changed = AASM_TRY(ledger::replace_keys(paths, root, purposes));
  } else {
    changed = AASM_TRY(ledger::rotate_key(paths, purposes.front()));
  }
  const std::string trust = AASM_TRY(pin_log(command.common, changed));
  if (command.common.format == Format::kJson) {
    print_json(JsonValue::Object{{"schema", "aasm.key-change/1"},
                                 {"change", command.replace ? "replaced" : "rotated"},
                                 {"keys", as_json(changed.keys)},
                                 {"checkpoint", changed.checkpoint}});
    return {};
  }
  std::string text;
  for (const LedgerKey& key : changed.keys) {
    text += as_line(key);
  }
  print_out(text + trust);
  return {};
}

// The one key whose id begins with `prefix`.
Result<schema::KeyId> find_key(const ledger::LedgerPaths& paths, const std::string& prefix) {
  std::vector<schema::KeyId> found;
  for (const LedgerKey& key : AASM_TRY(ledger::list_keys(paths))) {
    if (key.id.hex().starts_with(prefix)) {
      found.push_back(key.id);
    }
  }
  if (found.size() != 1) {
    return Error(ErrorCode::kNotFound,
                 std::to_string(found.size()) + " keys begin with this; see 'aasm key list'");
  }
  return found.front();
}

Result<void> revoke(const KeyRevokeCommand& command) {
  const ledger::LedgerPaths paths = AASM_TRY(paths_of(command.common));
  const schema::KeyId key = AASM_TRY(find_key(paths, command.key));
  const ledger::RootKey root = AASM_TRY(load_root(command.root_dir, paths));
  const ledger::KeyRevokedReport done =
      AASM_TRY(ledger::revoke_key(paths, root, key, command.limit, command.close_ledger));
  const std::string line = "revoked " + done.key.hex() + " " + std::to_string(done.limit);
  if (command.common.format == Format::kJson) {
    print_json(JsonValue::Object{{"schema", "aasm.key-revocation/1"},
                                 {"key", done.key.hex()},
                                 {"limit", static_cast<std::int64_t>(done.limit)},
                                 {"seq", static_cast<std::int64_t>(done.seq)},
                                 {"trust_line", line}});
    return {};
  }
  print_out(line +
            "\ntrust   this line, in the trust.keys file of whoever verifies elsewhere, "
            "also reaches copies from before\n");
  return {};
}

int finish(const Result<void>& done) {
  if (!done) {
    print_err(error_line(done.error()));
    return kExitFailed;
  }
  return kExitOk;
}

}  // namespace

int run_key_list(const KeyListCommand& command) {
  crypto::prepare();
  return finish(list(command));
}
int run_key_change(const KeyChangeCommand& command) {
  crypto::prepare();
  return finish(change(command));
}
int run_key_revoke(const KeyRevokeCommand& command) {
  crypto::prepare();
  return finish(revoke(command));
}

}  // namespace aasm::cli
