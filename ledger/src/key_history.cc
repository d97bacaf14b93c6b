#include "key_history.h"

#include <errno.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>
#include <variant>

#include "aasm/ledger_format/envelope.h"
#include "aasm/schema/record.h"

#include "head_file.h"
#include "private_files.h"

namespace aasm::ledger {
namespace {

using ledger_format::KeyPurpose;
using ledger_format::VerifierKey;
using schema::Error;
using schema::ErrorCode;
using schema::Result;

constexpr std::string_view kFirstLine = "aasm-keys/1";
constexpr std::size_t kMaxBytes = std::size_t{64} << 10U;
// Canonical payloads spell a kind in one way only.
constexpr std::string_view kKeyKind = "\"kind\":\"key.";

std::string file_name(const std::string& origin) {
  return head_file_name(origin) + ".keys";
}

KeyPurpose purpose_of(const std::string& text) {
  return text == "log" ? KeyPurpose::kLog : KeyPurpose::kHost;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t end = 0; (end = text.find(separator)) != std::string_view::npos;) {
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  parts.push_back(text);
  return parts;
}

std::optional<std::uint64_t> number_of(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = !text.empty() && code == std::errc() && end == text.data() + text.size();
  return whole ? std::optional(number) : std::nullopt;
}

}  // namespace

Result<void> KeyHistory::look(const RecordRow& row) {
  if (row.seq != 0 && row.payload.find(kKeyKind) == std::string_view::npos) {
    return {};
  }
  const auto parsed = ledger_format::parse_payload(row.payload);
  const auto* statement = std::get_if<ledger_format::Statement>(&parsed);
  if (statement == nullptr) {
    return Error(ErrorCode::kIntegrity,
                 "record " + std::to_string(row.seq) + " is no record of this format");
  }
  const auto body = AASM_TRY(schema::read_body(statement->envelope.kind, statement->body));
  if (row.seq == 0) {
    const auto* created = body ? std::get_if<schema::LedgerCreated>(&*body) : nullptr;
    if (created == nullptr || created->origin != statement->envelope.origin) {
      return Error(ErrorCode::kIntegrity, "record 0 is not ledger.created");
    }
    origin_ = created->origin;
    introductions_ = {{KeyPurpose::kHost, created->host.key, 0, false},
                      {KeyPurpose::kLog, created->log.key, 0, false}};
    return {};
  }
  const std::uint64_t newest = revocations_.empty() ? 0 : revocations_.back().seq;
  if (!body || std::max(introductions_.back().seq, newest) >= row.seq) {
    return {};  // another kind, or followed before
  }
  if (const auto* rotated = std::get_if<schema::KeyRotated>(&*body)) {
    introductions_.push_back({purpose_of(rotated->purpose), rotated->new_key, row.seq, true});
  } else if (const auto* replaced = std::get_if<schema::KeyReplaced>(&*body)) {
    introductions_.push_back(
        {purpose_of(replaced->certificate.purpose), replaced->certificate.key, row.seq, false});
  } else if (const auto* revoked = std::get_if<schema::KeyRevoked>(&*body)) {
    revocations_.push_back({revoked->key, revoked->limit, row.seq});
  } else {
    return {};
  }
  changed_ = true;
  return {};
}

Result<KeyHistory> KeyHistory::scan(LedgerDb& db) {
  KeyHistory history;
  const auto look = [&history](const RecordRow& row) { return history.look(row); };
  if (!AASM_TRY(db.visit_record(0, look))) {
    return Error(ErrorCode::kIntegrity, "the ledger has no record 0");
  }
  AASM_TRY(db.visit_records(1, look));
  history.changed_ = false;
  return history;
}

const KeyIntroduction& KeyHistory::in_force(KeyPurpose purpose) const {
  // Record 0 brought one of each.
  return *std::find_if(introductions_.rbegin(), introductions_.rend(),
                       [purpose](const auto& one) { return one.purpose == purpose; });
}

Result<VerifierKey> KeyHistory::log() const {
  return VerifierKey::make(origin_, ledger_format::NoteKeyType::kEd25519,
                           in_force(KeyPurpose::kLog).key);
}

std::vector<VerifierKey> KeyHistory::older_logs() const {
  std::vector<VerifierKey> logs;
  bool newest = true;
  // NOLINTNEXTLINE(modernize-loop-convert): backwards
  for (auto one = introductions_.rbegin(); one != introductions_.rend(); ++one) {
    if (one->purpose != KeyPurpose::kLog || std::exchange(newest, false)) {
      continue;
    }
    Result<VerifierKey> key =
        VerifierKey::make(origin_, ledger_format::NoteKeyType::kEd25519, one->key);
    if (key) {
      logs.push_back(std::move(*key));
    }
  }
  return logs;
}

std::string KeyHistory::text() const {
  std::string text = std::string(kFirstLine) + "\norigin " + origin_ + "\n";
  for (const KeyIntroduction& one : introductions_) {
    text += std::string(to_string(one.purpose)) + " " + one.key.hex() + " " +
            std::to_string(one.seq) + (one.rotated ? " rotated\n" : " certified\n");
  }
  for (const KeyRevocation& one : revocations_) {
    text += "revoked " + one.key.hex() + " " + std::to_string(one.seq) + " " +
            std::to_string(one.limit) + "\n";
  }
  return text;
}

std::optional<KeyHistory> KeyHistory::parse(std::string_view text) {
  const std::vector<std::string_view> lines = split(text, '\n');
  if (lines.size() < 5 || lines.front() != kFirstLine || !lines.back().empty() ||
      !lines[1].starts_with("origin ")) {
    return std::nullopt;
  }
  KeyHistory history;
  history.origin_ = std::string(lines[1].substr(7));
  for (std::size_t i = 2; i + 1 < lines.size(); ++i) {
    const std::vector<std::string_view> words = split(lines[i], ' ');
    const auto seq = words.size() == 4 ? number_of(words[2]) : std::nullopt;
    if (!seq) {
      return std::nullopt;
    }
    if (words[0] == "revoked") {
      const Result<schema::KeyId> key = schema::KeyId::from_hex_text(words[1]);
      const auto limit = number_of(words[3]);
      if (!key || !limit) {
        return std::nullopt;
      }
      history.revocations_.push_back({*key, *limit, *seq});
      continue;
    }
    const Result<schema::PublicKey> key = schema::PublicKey::from_hex_text(words[1]);
    const auto purpose = ledger_format::parse_key_purpose(words[0]);
    if (!key || !purpose) {
      return std::nullopt;
    }
    history.introductions_.push_back({*purpose, *key, *seq, words[3] == "rotated"});
  }
  const bool whole = history.introductions_.size() >= 2 &&
                     history.introductions_[0].purpose == KeyPurpose::kHost &&
                     history.introductions_[1].purpose == KeyPurpose::kLog;
  return whole ? std::optional(std::move(history)) : std::nullopt;
}

std::optional<KeyHistory> KeyHistory::kept(const std::string& heads, const std::string& origin) {
  const Result<Fd> directory = open_private_dir(heads);
  if (!directory) {
    return std::nullopt;
  }
  std::string buffer(kMaxBytes, '\0');
  const Result<std::string_view> text =
      read_private_file(directory->get(), file_name(origin), buffer.data(), buffer.size());
  std::optional<KeyHistory> history = text ? parse(*text) : std::nullopt;
  return history && history->origin_ == origin ? history : std::nullopt;
}

void KeyHistory::keep(const std::string& heads) const {
  const Result<Fd> directory = ensure_private_dir(heads);
  if (directory && text().size() < kMaxBytes) {
    static_cast<void>(replace_private_file(directory->get(), file_name(origin_), text()));
  }
}

Result<void> KeyHistory::forget(const std::string& heads, const std::string& origin) {
  const Fd directory = AASM_TRY_CONTEXT(ensure_private_dir(heads), "heads directory");
  if (unlinkat(directory.get(), file_name(origin).c_str(), 0) != 0 && errno != ENOENT) {
    return os_error("removing the kept list of keys", errno);
  }
  // Durable before the change is: a power cut must not bring back what no longer holds.
  return fsync(directory.get()) == 0 ? Result<void>()
                                     : os_error("syncing the heads directory", errno);
}

}  // namespace aasm::ledger
