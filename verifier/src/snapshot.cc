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
constexpr std::string_view kReceiptMagic = "c2sp.org/tlog-pr";  // oof@v1: 16 bytes
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
  Copier(const SourceDir& source, ScratchDir& scratch, std::uint64_t max_bytes)
      : source_(source), scratch_(scratch), max_bytes_(max_bytes) {}

  // One attempt: true when the copy is consistent.
  Step<bool> attempt();
  Snapshot take(int attempts) {
    snapshot_.attempts = attempts;
    return std::move(snapshot_);
  }

 private:
  // Copies `name` + suffix when it is there and not empty.
  std::optional<Fault> copy(const std::string& suffix);

  const SourceDir& source_;
  ScratchDir& scratch_;
  std::uint64_t max_bytes_;
  Snapshot snapshot_;
};

std::optional<Fault> Copier::copy(const std::string& suffix) {
  const std::string name = source_.name + suffix;
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
  std::uint64_t copied_bytes = 0;
  for (const CopiedFile& earlier : snapshot_.files) {
    copied_bytes += earlier.size;
  }
  Step<ScratchFile> copy = scratch_.create();
  if (copy.fault() != nullptr) {
    return *copy.fault();
  }
  Step<CopiedFile> copied =
      copy_source(**file.value(), name, copy.value()->fd, {max_bytes_, copied_bytes});
  if (copied.fault() != nullptr) {
    return *copied.fault();
  }
  snapshot_.files.push_back(*copied.value());
  snapshot_.copies.push_back(std::move(*copy.value()));
  snapshot_.suffixes.push_back(suffix);
  return std::nullopt;
}

Step<bool> Copier::attempt() {
  snapshot_ = Snapshot();
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
  for (const char* suffix : {"", "-wal", "-journal"}) {
    if (std::optional<Fault> fault = copy(suffix)) {
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

Step<Snapshot> copy_ledger(const SourceDir& source, ScratchDir& scratch, std::uint64_t max_bytes) {
  Copier copier(source, scratch, max_bytes);
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

Step<Snapshot> copy_receipt(const SourceDir& source, const SourceFile& file, ScratchDir& scratch) {
  Step<ScratchFile> copy = scratch.create();
  if (copy.fault() != nullptr) {
    return *copy.fault();
  }
  Step<CopiedFile> copied =
      copy_source(file, source.name, copy.value()->fd, {ledger_format::kReceiptMaxBytes, 0});
  if (copied.fault() != nullptr) {
    return *copied.fault();
  }
  Snapshot snapshot;
  snapshot.kind = TargetKind::kReceipt;
  snapshot.files.push_back(*copied.value());
  snapshot.copies.push_back(std::move(*copy.value()));
  snapshot.suffixes.emplace_back();
  return snapshot;
}

}  // namespace

Step<Snapshot> take_snapshot(const std::string& target, ScratchDir& scratch,
                             std::uint64_t max_bytes) {
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
  return copy_ledger(*source.value(), scratch, max_bytes);
}

}  // namespace aasm::verifier
