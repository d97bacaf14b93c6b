#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace aasm::schema {

// What a caller can act on. The list is closed: adding a code means adding its
// exit status in cli/exit_status.h and a row in docs/errors.md.
enum class ErrorCode : std::uint8_t {
  kInvalidArgument,    // the caller's input breaks the interface's contract
  kMalformed,          // bytes from outside do not parse
  kNotFound,           // a named thing is absent
  kUnsupported,        // the kernel or build lacks a feature that was required
  kPermissionDenied,   // the operating system refused
  kIntegrity,          // a hash, signature or chain does not check
  kConflict,           // somebody else changed it first
  kResourceExhausted,  // a stated limit was reached
  kUnavailable,        // may succeed later, unchanged
  kInternal,           // a bug here; never caused by input
};

std::string_view to_string(ErrorCode code);

// An error is a code to branch on and a sentence for a person. Context is added
// while it travels up ("opening ledger /x: reading header: short read"), never
// by rewording. Messages hold no secrets and no raw bytes from outside.
class Error {
 public:
  Error(ErrorCode code, std::string message, int os_errno = 0)
      : code_(code), os_errno_(os_errno), message_(std::move(message)) {}

  ErrorCode code() const { return code_; }
  int os_errno() const { return os_errno_; }
  const std::string& message() const { return message_; }

  Error with_context(std::string_view context) &&;

 private:
  ErrorCode code_;
  int os_errno_;
  std::string message_;
};

}  // namespace aasm::schema
