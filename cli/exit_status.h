#pragma once

#include "aasm/launcher/status_line.h"

// Exit statuses of aasm: docs/spec/product.md section 7, docs/spec/ledger-format.md section 10.
namespace aasm::cli {

using launcher::kExitEvidenceFailure;
using launcher::kExitNotExecutable;
using launcher::kExitNotFound;
using launcher::kExitRefused;

inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitInconclusive = 3;
inline constexpr int kExitUnreadable = 4;

}  // namespace aasm::cli
