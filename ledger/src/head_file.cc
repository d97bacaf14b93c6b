#include "head_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <array>
#include <utility>

#include "aasm/crypto/hash.h"

#include "head.h"
#include "private_files.h"

namespace aasm::ledger {
namespace {

using schema::Error;
using schema::ErrorCode;
using schema::Result;

// Our own notes have one signature; room is left for cosignatures.
constexpr std::size_t kHeadMaxBytes = 8192;

using VerifierKeys = std::vector<ledger_format::VerifierKey>;

Result<std::optional<ReleasedHead>> read_head(int directory, const ledger_format::VerifierKey& log,
                                              const VerifierKeys& older,
                                              std::string_view verified) {
  std::array<char, kHeadMaxBytes> buffer{};
  Result<std::string_view> text =
      read_private_file(directory, head_file_name(log.name()), buffer.data(), buffer.size());
  if (!text) {
    if (text.error().code() == ErrorCode::kNotFound) {
      return std::optional<ReleasedHead>();
    }
    return std::move(text).error();
  }
  if (text->empty()) {
    return std::optional<ReleasedHead>();
  }
  ledger_format::SignedCheckpoint head = AASM_TRY(ledger_format::parse_signed_checkpoint(*text));
  const bool by_log_key = is_signed_by(log, head.note, *text, verified) ||
                          std::any_of(older.begin(), older.end(), [&](const auto& key) {
                            return is_signed_by(key, head.note, *text, {});
                          });
  if (!by_log_key || head.checkpoint.origin != log.name()) {
    return Error(ErrorCode::kIntegrity, "the note is not signed by this ledger's log key");
  }
  return std::optional<ReleasedHead>({std::move(head.checkpoint), std::string(*text)});
}

// Held while a head file is compared and replaced; released by closing.
Result<Fd> lock_heads(int directory, const std::string& name) {
  Fd fd(
      openat(directory, (name + ".lock").c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd.valid()) {
    return os_error("opening the lock of the head file", errno);
  }
  while (flock(fd.get(), LOCK_EX) != 0) {
    if (errno != EINTR) {
      return os_error("locking the head file", errno);
    }
  }
  return fd;
}

}  // namespace

std::string head_file_name(std::string_view origin) {
  return crypto::sha256(schema::as_bytes(origin)).hex();
}

Result<std::optional<ReleasedHead>> read_head_file(const std::string& directory,
                                                   const ledger_format::VerifierKey& log,
                                                   const VerifierKeys& older) {
  Result<Fd> fd = open_private_dir(directory);
  if (!fd) {
    if (fd.error().code() == ErrorCode::kNotFound) {
      return std::optional<ReleasedHead>();
    }
    return std::move(fd).error().with_context("heads directory");
  }
  return AASM_TRY_CONTEXT(read_head(fd->get(), log, older, {}), "head file");
}

Result<void> release_head(const std::string& directory, const ledger_format::VerifierKey& log,
                          std::uint64_t size, std::string_view note, std::string_view verified,
                          const VerifierKeys& older) {
  const Fd fd = AASM_TRY_CONTEXT(ensure_private_dir(directory), "heads directory");
  const std::string name = head_file_name(log.name());
  const Fd lock = AASM_TRY(lock_heads(fd.get(), name));
  const std::optional<ReleasedHead> standing =
      AASM_TRY_CONTEXT(read_head(fd.get(), log, older, verified), "head file");
  if (standing && standing->checkpoint.size >= size) {
    return {};
  }
  return replace_private_file(fd.get(), name, note);
}

}  // namespace aasm::ledger
