#include "snapshot.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>
#include <thread>
#include <utility>

#include "aasm/ledger_format/receipt.h"

#include "source_file.h"
#include "wal_mark.h"

namespace aasm::verifier {
namespace {

constexpr std::string_view kSqliteMagic("SQLite format 3\0", 16);
constexpr std::string_view kReceiptMagic = "c2sp.org/tlog-p";  // tlog-proof@v1
// At the end of a rollback journal that names a super-journal (SQLite fileformat, section 3).
constexpr std::array<std::uint8_t, 8> kJournalMagic = {0xd9, 0xd5, 0x05, 0xf9,
                                                       0x20, 0xa1, 0x63, 0xd7};
constexpr std::chrono::milliseconds kRetryPause{3};
constexpr std::chrono::milliseconds kFreshPause{25};  // outlasts WalMark::db_is_fresh
constexpr std::chrono::milliseconds kLockPatience{2000};
constexpr int kLockedAttempts = 5;

Step<TargetKind> recognise(const SourceFile& file) {
  std::array<char, 16> head{};
  const ssize_t got = pread(file.fd.get(), head.data(), head.size(), 0);
  const std::string_view start(head.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
  if (start == kSqliteMagic) {
    return TargetKind::kLedger;
  }
  if (start.starts_with(kReceiptMagic)) {
    return TargetKind::kReceipt;
  }
  return Fault{FindingCode::kTargetNotRecognised,
               start.empty() ? "the file is empty" : "the first bytes are of another format"};
}

// SQLite would open, and in the end delete, the file that such a journal names: the one way in
// which replaying a journal reaches outside the private directory.
bool names_super_journal(const SourceFile& file) {
  std::array<std::uint8_t, 8> end{};
  const off_t size = file.status.st_size;
  return size >= 16 && pread(file.fd.get(), end.data(), end.size(), size - 8) == 8 &&
         end == kJournalMagic;
}

class Copier {
 public:
  Copier(const SourceDir& source, const ScratchDir& scratch)
      : source_(source), copy_(scratch.file("ledger.db")) {}

  // One attempt: true when the copy is consistent.
  Step<bool> attempt();
  Snapshot take(int attempts) { return {TargetKind::kLedger, copy_, std::move(files_), attempts}; }

 private:
  // Copies `name` + suffix when it is there and not empty.
  std::optional<Fault> copy(const std::string& suffix, std::uint64_t max_bytes);

  const SourceDir& source_;
  std::string copy_;
  std::vector<CopiedFile> files_;
};

std::optional<Fault> Copier::copy(const std::string& suffix, std::uint64_t max_bytes) {
  const std::string name = source_.name + suffix;
  unlink((copy_ + suffix).c_str());  // of an earlier attempt
  Step<std::optional<SourceFile>> file = open_source(source_, name);
  if (file.fault() != nullptr) {
    return *file.fault();
  }
  if (!*file.value() || (!suffix.empty() && (*file.value())->status.st_size == 0)) {
    return std::nullopt;
  }
  if (suffix == "-journal" && names_super_journal(**file.value())) {
    return Fault{FindingCode::kSuperJournal, name};
  }
  Step<CopiedFile> copied = copy_source(**file.value(), name, copy_ + suffix, max_bytes);
  if (copied.fault() != nullptr) {
    return *copied.fault();
  }
  files_.push_back(*copied.value());
  return std::nullopt;
}

Step<bool> Copier::attempt() {
  files_.clear();
  Step<WalMark> before = read_wal_mark(source_);
  if (before.fault() != nullptr) {
    return *before.fault();
  }
  if (!before.value()->has_wal && before.value()->db_is_fresh) {
    std::this_thread::sleep_for(kFreshPause);
    before = read_wal_mark(source_);
    if (before.fault() != nullptr) {
      return *before.fault();
    }
  }
  // The database first: see WalMark.
  for (const auto& [suffix, max_bytes] :
       {std::pair<const char*, std::uint64_t>{"", kMaxDatabaseBytes},
        {"-wal", kMaxSidecarBytes},
        {"-journal", kMaxSidecarBytes}}) {
    if (std::optional<Fault> fault = copy(suffix, max_bytes)) {
      return *std::move(fault);
    }
  }
  Step<WalMark> after = read_wal_mark(source_);
  if (after.fault() != nullptr) {
    return *after.fault();
  }
  return still_consistent(*before.value(), *after.value());
}

// With both locks the WAL can appear once and start anew once; after that attempts succeed.
Step<Snapshot> copy_locked(const SourceDir& source, Copier& copier) {
  Step<ReadLock> database = ReadLock::on_database(source, kLockPatience);
  if (database.fault() != nullptr) {
    return *database.fault();
  }
  for (int i = 1; database.value()->held() && i <= kLockedAttempts; ++i) {
    Step<ReadLock> checkpoints = ReadLock::on_checkpoints(source, kLockPatience);
    if (checkpoints.fault() != nullptr) {
      return *checkpoints.fault();
    }
    Step<bool> consistent = copier.attempt();
    if (consistent.fault() != nullptr) {
      return *consistent.fault();
    }
    if (*consistent.value()) {
      return copier.take(kCopyAttempts + i);
    }
  }
  return Fault{FindingCode::kBusy, std::to_string(kCopyAttempts) + " attempts"};
}

Step<Snapshot> copy_ledger(const SourceDir& source, const ScratchDir& scratch) {
  Copier copier(source, scratch);
  for (int i = 1; i <= kCopyAttempts; ++i) {
    Step<bool> consistent = copier.attempt();
    if (consistent.fault() != nullptr) {
      return *consistent.fault();
    }
    if (*consistent.value()) {
      return copier.take(i);
    }
    std::this_thread::sleep_for(kRetryPause * i);
  }
  return copy_locked(source, copier);
}

Step<Snapshot> copy_receipt(const SourceDir& source, const SourceFile& file,
                            const ScratchDir& scratch) {
  Snapshot snapshot{TargetKind::kReceipt, scratch.file("receipt"), {}, 1};
  Step<CopiedFile> copied =
      copy_source(file, source.name, snapshot.path, ledger_format::kReceiptMaxBytes);
  if (copied.fault() != nullptr) {
    return *copied.fault();
  }
  snapshot.files.push_back(*copied.value());
  return snapshot;
}

}  // namespace

Step<Snapshot> take_snapshot(const std::string& target, const ScratchDir& scratch) {
  Step<SourceDir> source = open_source_dir(target);
  if (source.fault() != nullptr) {
    return *source.fault();
  }
  Step<std::optional<SourceFile>> file = open_source(*source.value(), source.value()->name);
  if (file.fault() != nullptr) {
    return *file.fault();
  }
  if (!*file.value()) {
    return Fault{FindingCode::kTargetNotFound, source.value()->name + ": there is no such file"};
  }
  Step<TargetKind> kind = recognise(**file.value());
  if (kind.fault() != nullptr) {
    return *kind.fault();
  }
  if (*kind.value() == TargetKind::kReceipt) {
    return copy_receipt(*source.value(), **file.value(), scratch);
  }
  return copy_ledger(*source.value(), scratch);
}

}  // namespace aasm::verifier
