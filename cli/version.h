#pragma once

namespace aasm::cli {

// AASM_VERSION is set by the build from the project's version.
inline constexpr const char* kVersion = AASM_VERSION;

}  // namespace aasm::cli
