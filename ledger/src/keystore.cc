#include "aasm/ledger/keystore.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include <array>
#include <utility>

#include "aasm/crypto/secret.h"
#include "aasm/ledger_format/origin.h"

#include "key_file.h"
#include "key_slots.h"
#include "private_files.h"

namespace aasm::ledger {
namespace {

using crypto::SigningKey;
using schema::Error;
using schema::ErrorCode;
using schema::Result;

constexpr std::array<std::string_view, 3> kPurposes = {"root", "host", "log"};

std::string file_name(std::string_view purpose) {
  return std::string(purpose) + ".key";
}

std::string next_name(std::string_view purpose) {
  return file_name(purpose) + ".next";
}

std::span<std::uint8_t> bytes_of(char* data, std::size_t size) {
  // SAFETY: char and uint8_t have the same size and may alias.
  return {reinterpret_cast<std::uint8_t*>(data), size};
}

Result<void> write_key(int directory, const std::string& name, std::string_view origin,
                       std::string_view purpose, const SigningKey& key) {
  std::string text;
  text.reserve(kKeyFileMaxBytes);
  write_key_file(origin, purpose, key, text);
  Result<void> written = create_private_file(directory, name, text);
  crypto::wipe_bytes(bytes_of(text.data(), text.size()));
  return written;
}

Result<KeyFile> read_key(int directory, std::string_view purpose, const std::string& name) {
  std::array<char, kKeyFileMaxBytes> buffer{};
  Result<KeyFile> key = [&]() -> Result<KeyFile> {
    const std::string_view text =
        AASM_TRY(read_private_file(directory, name, buffer.data(), buffer.size()));
    return parse_key_file(text, purpose);
  }();
  crypto::wipe_bytes(bytes_of(buffer.data(), buffer.size()));
  if (!key) {
    return std::move(key).error().with_context(name);
  }
  return key;
}

Result<KeyFile> read_key(int directory, std::string_view purpose) {
  Result<KeyFile> key = read_key(directory, purpose, file_name(purpose));
  if (!key && key.error().code() == ErrorCode::kNotFound && purpose != "root") {
    // A key change that was cut off before its last step, in a place where there was no file.
    Result<KeyFile> next = read_key(directory, purpose, next_name(purpose));
    return next ? std::move(next) : std::move(key);
  }
  return key;
}

void remove_key_directory(const std::string& path) {
  for (const std::string_view purpose : kPurposes) {
    unlink((path + "/" + file_name(purpose)).c_str());
  }
  rmdir(path.c_str());
}

Result<void> write_keys(const std::string& directory, const NewKeys& made) {
  const Fd fd = AASM_TRY(ensure_private_dir(directory));
  const std::string& origin = made.root.origin;
  AASM_TRY(write_key(fd.get(), file_name("root"), origin, "root", made.root.key));
  AASM_TRY(write_key(fd.get(), file_name("host"), origin, "host", made.keys.host));
  AASM_TRY(write_key(fd.get(), file_name("log"), origin, "log", made.keys.log));
  if (fsync(fd.get()) != 0) {
    return os_error("syncing the key directory", errno);
  }
  return {};
}

Result<NewKeys> generate_keys(std::string_view origin) {
  SigningKey root = AASM_TRY(SigningKey::generate());
  SigningKey host = AASM_TRY(SigningKey::generate());
  SigningKey log = AASM_TRY(SigningKey::generate());
  const std::string name(origin);
  return NewKeys{RootKey{name, std::move(root)}, KeySet{name, std::move(host), std::move(log)}};
}

}  // namespace

Result<NewKeys> create_keys(const std::string& directory, std::string_view origin) {
  AASM_TRY(ledger_format::check_origin(origin));
  struct stat status {};
  if (lstat(directory.c_str(), &status) == 0) {
    return Error(ErrorCode::kConflict, "the key directory exists");
  }
  NewKeys made = AASM_TRY(generate_keys(origin));
  const std::string temporary = directory + ".new-" + AASM_TRY(random_suffix());
  Result<void> written = write_keys(temporary, made);
  // RENAME_NOREPLACE: two first starts at once must not both think that theirs are the keys.
  if (written.has_value() &&
      renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, directory.c_str(), RENAME_NOREPLACE) != 0) {
    written = os_error("putting the key directory in place", errno);
  }
  if (!written) {
    remove_key_directory(temporary);
    return std::move(written).error().with_context("creating keys");
  }
  AASM_TRY(sync_directory(parent_of(directory)));
  return made;
}

Result<KeySet> load_keys(const std::string& directory) {
  const Fd fd = AASM_TRY_CONTEXT(open_private_dir(directory), "key directory");
  KeyFile host = AASM_TRY(read_key(fd.get(), "host"));
  KeyFile log = AASM_TRY(read_key(fd.get(), "log"));
  if (host.origin != log.origin) {
    return Error(ErrorCode::kIntegrity, "host.key and log.key are of different origins");
  }
  return KeySet{std::move(host.origin), std::move(host.key), std::move(log.key)};
}

Result<RootKey> load_root_key(const std::string& directory) {
  const Fd fd = AASM_TRY_CONTEXT(open_private_dir(directory), "key directory");
  KeyFile root = AASM_TRY(read_key(fd.get(), "root"));
  return RootKey{std::move(root.origin), std::move(root.key)};
}

Result<void> write_next_key(const std::string& directory, const std::string& origin,
                            ledger_format::KeyPurpose purpose, const SigningKey& key) {
  const Fd fd = AASM_TRY_CONTEXT(ensure_private_dir(directory), "key directory");
  const std::string name = next_name(to_string(purpose));
  unlinkat(fd.get(), name.c_str(), 0);  // of a change that never came into force
  AASM_TRY(write_key(fd.get(), name, origin, to_string(purpose), key));
  return fsync(fd.get()) == 0 ? Result<void>() : os_error("syncing the key directory", errno);
}

Result<void> settle_next_key(const std::string& directory, ledger_format::KeyPurpose purpose) {
  const Fd fd = AASM_TRY_CONTEXT(open_private_dir(directory), "key directory");
  const std::string next = next_name(to_string(purpose));
  const std::string name = file_name(to_string(purpose));
  // ENOENT: another writer did it.
  if (renameat(fd.get(), next.c_str(), fd.get(), name.c_str()) != 0 && errno != ENOENT) {
    return os_error("putting the new " + name + " in place", errno);
  }
  return fsync(fd.get()) == 0 ? Result<void>() : os_error("syncing the key directory", errno);
}

Result<SigningKey> load_key_in_force(const std::string& directory, const std::string& origin,
                                     const KeyIntroduction& in_force) {
  const Fd fd = AASM_TRY_CONTEXT(open_private_dir(directory), "key directory");
  const std::string_view purpose = to_string(in_force.purpose);
  for (const std::string& name : {file_name(purpose), next_name(purpose)}) {
    Result<KeyFile> found = read_key(fd.get(), purpose, name);
    if (!found && found.error().code() != ErrorCode::kNotFound) {
      return std::move(found).error();
    }
    if (!found || found->origin != origin || found->key.public_key() != in_force.key) {
      continue;
    }
    if (name == next_name(purpose)) {
      AASM_TRY(settle_next_key(directory, in_force.purpose));
    }
    return std::move(found->key);
  }
  return Error(ErrorCode::kIntegrity,
               file_name(purpose) + " is not the " + std::string(purpose) + " key that record " +
                   std::to_string(in_force.seq) +
                   " of the ledger put in force: put that file back, or run 'aasm key replace " +
                   std::string(purpose) + "'");
}

}  // namespace aasm::ledger
