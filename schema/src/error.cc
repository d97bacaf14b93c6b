#include "aasm/schema/error.h"

#include <cstdlib>

namespace aasm::schema {

std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return "invalid argument";
    case ErrorCode::kMalformed:
      return "malformed";
    case ErrorCode::kNotFound:
      return "not found";
    case ErrorCode::kUnsupported:
      return "unsupported";
    case ErrorCode::kPermissionDenied:
      return "permission denied";
    case ErrorCode::kIntegrity:
      return "integrity";
    case ErrorCode::kConflict:
      return "conflict";
    case ErrorCode::kResourceExhausted:
      return "resource exhausted";
    case ErrorCode::kUnavailable:
      return "unavailable";
    case ErrorCode::kInternal:
      return "internal";
  }
  std::abort();
}

Error Error::with_context(std::string_view context) && {
  std::string message(context);
  message += ": ";
  message += message_;
  return Error(code_, std::move(message), os_errno_);
}

}  // namespace aasm::schema
