#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "aasm/schema/digest.h"

#include "fault.h"
#include "scratch_dir.h"

// Step 1 of docs/spec/ledger-format.md section 9: a private copy of the target, taken without
// writing a byte beside the original, and consistent even while a writer is at work.
namespace aasm::verifier {

enum class TargetKind : std::uint8_t { kLedger, kReceipt };

struct CopiedFile {
  std::string name;
  std::uint64_t size = 0;
  schema::Sha256 digest;
};

struct Snapshot {
  TargetKind kind = TargetKind::kLedger;
  std::vector<CopiedFile> files;
  std::vector<ScratchFile> copies;    // one for each of `files`
  std::vector<std::string> suffixes;  // "", "-wal" or "-journal", one for each
  int attempts = 1;
};

// How often a copy is tried while the WAL is being restarted, before the -shm lock is taken.
inline constexpr int kCopyAttempts = 20;
// How large the files may be together, by their sizes and by what they take on disk.
inline constexpr std::uint64_t kDefaultMaxBytes = std::uint64_t{4} << 30U;

// Copies `target` (and -wal and -journal of a ledger) into files of `scratch`, up to `max_bytes` in
// all; holes stay holes. Every component but the last may be a link; the last, and the files beside
// it, must be regular files.
Step<Snapshot> take_snapshot(const std::string& target, ScratchDir& scratch,
                             std::uint64_t max_bytes);

}  // namespace aasm::verifier
