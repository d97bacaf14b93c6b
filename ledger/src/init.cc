#include "aasm/ledger/init.h"

#include <errno.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <optional>
#include <utility>

#include "aasm/crypto/random.h"
#include "aasm/ledger/keystore.h"
#include "aasm/ledger/reader.h"
#include "aasm/ledger/store.h"
#include "aasm/ledger_format/origin.h"
#include "aasm/schema/fields.h"
#include "aasm/schema/record_ledger.h"

#include "leftovers.h"
#include "private_files.h"

namespace aasm::ledger {
namespace {

using schema::Error;
using schema::ErrorCode;
using schema::Result;

constexpr std::size_t kMaxHostBytes = 63;  // of one label of a domain

Result<std::string> new_origin(const std::string& org) {
  std::string domain = org;
  if (domain.empty()) {
    std::array<char, 256> host{};
    if (gethostname(host.data(), host.size() - 1) != 0) {
      return os_error("reading the host name", errno);
    }
    domain = default_domain(host.data());
  }
  std::array<std::uint8_t, 16> random{};
  AASM_TRY(crypto::random_bytes(random));
  return ledger_format::make_origin(domain, random);
}

struct Keys {
  KeySet keys;
  std::optional<RootKey> root;  // absent when it is kept elsewhere
  bool created = false;
};

Result<Keys> ensure_keys(const LedgerPaths& paths, const InitOptions& options) {
  Result<KeySet> standing = load_keys(paths.keys);
  if (standing) {
    Result<RootKey> root = load_root_key(paths.keys);
    if (root) {
      return Keys{std::move(*standing), std::move(*root), false};
    }
    if (root.error().code() != ErrorCode::kNotFound) {
      return std::move(root).error();
    }
    return Keys{std::move(*standing), std::nullopt, false};
  }
  const bool no_directory =
      standing.error().code() == ErrorCode::kNotFound && access(paths.keys.c_str(), F_OK) != 0;
  if (!no_directory) {
    return std::move(standing).error();
  }
  const std::string origin = AASM_TRY(new_origin(options.org));
  NewKeys made = AASM_TRY(create_keys(paths.keys, origin));
  return Keys{std::move(made.keys), std::move(made.root), true};
}

// Removes what an init that was killed left: no other one is at work while `home` is locked. Where
// directories cannot be locked (NFS) it stays. The lock goes with the descriptor.
void clean_up(const Fd& home, const std::string& home_path, const LedgerPaths& paths) {
  int locked = 0;
  while ((locked = flock(home.get(), LOCK_EX)) != 0 && errno == EINTR) {
  }
  if (locked != 0) {
    return;
  }
  remove_leftovers(paths.keys);
  if (parent_of(paths.ledger) == home_path) {  // elsewhere the lock says nothing
    remove_leftovers(paths.ledger);
  }
}

Result<bool> ensure_ledger(const LedgerPaths& paths, const Keys& keys, const InitOptions& options) {
  if (access(paths.ledger.c_str(), F_OK) == 0) {
    return false;
  }
  if (!keys.root) {
    return Error(ErrorCode::kNotFound, "root.key is needed to make a ledger and is not there");
  }
  AASM_TRY(Store::create(paths, *keys.root, keys.keys, options.aasm_version));
  return true;
}

}  // namespace

std::string default_domain(const std::string& host_name) {
  std::string label;
  for (const char c : host_name.substr(0, host_name.find('.')).substr(0, kMaxHostBytes)) {
    const bool upper = c >= 'A' && c <= 'Z';
    const bool kept = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    label.push_back(upper ? static_cast<char>(c - 'A' + 'a') : kept ? c : '-');
  }
  const std::size_t first = label.find_first_not_of('-');
  if (first == std::string::npos) {
    return "host.invalid";
  }
  label = label.substr(first, label.find_last_not_of('-') - first + 1);
  return label + ".invalid";
}

Result<InitReport> initialise(const std::string& home, const LedgerPaths& paths,
                              const InitOptions& options) {
  const Fd directory = AASM_TRY_CONTEXT(ensure_private_dir(home), "home directory");
  clean_up(directory, home, paths);
  Keys keys = AASM_TRY(ensure_keys(paths, options));
  const bool ledger_created = AASM_TRY(ensure_ledger(paths, keys, options));
  InitReport report{keys.keys.origin,           {},           keys.keys.host.public_key(),
                    keys.keys.log.public_key(), keys.created, ledger_created};
  // Opening checks that the keys are the ledger's and that it was not rolled back.
  AASM_TRY(Store::open(paths, std::move(keys.keys)));
  LedgerReader reader = AASM_TRY(LedgerReader::open(paths.ledger));
  const StoredRecord first = AASM_TRY(reader.record(0));
  report.root = AASM_TRY(schema::read_fields<schema::LedgerCreated>(first.statement.body)).root;
  return report;
}

}  // namespace aasm::ledger
