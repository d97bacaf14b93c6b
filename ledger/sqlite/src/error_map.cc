#include "error_map.h"

#include <errno.h>

#include <string>

#include <sqlite3.h>

#include "aasm/schema/utf8.h"

namespace aasm::sqlite {
namespace {

using schema::ErrorCode;

bool is_space_errno(int os_errno) {
  return os_errno == ENOSPC || os_errno == EDQUOT || os_errno == EFBIG;
}

ErrorCode cannot_open(int os_errno) {
  if (os_errno == ENOENT) {
    return ErrorCode::kNotFound;
  }
  if (os_errno == EACCES || os_errno == EPERM || os_errno == EROFS) {
    return ErrorCode::kPermissionDenied;
  }
  return ErrorCode::kUnavailable;
}

ErrorCode code_for(int extended_code, int os_errno) {
  switch (extended_code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
    case SQLITE_SCHEMA:
      return ErrorCode::kUnavailable;
    case SQLITE_IOERR:
      // A file size limit reaches SQLite as a failed write; it is as lasting as a full disk.
      return is_space_errno(os_errno) ? ErrorCode::kResourceExhausted : ErrorCode::kUnavailable;
    case SQLITE_FULL:
    case SQLITE_NOMEM:
    case SQLITE_TOOBIG:
    case SQLITE_INTERRUPT:
      return ErrorCode::kResourceExhausted;
    case SQLITE_CONSTRAINT:
      return ErrorCode::kConflict;
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_AUTH:
      return ErrorCode::kPermissionDenied;
    case SQLITE_CANTOPEN:
      return cannot_open(os_errno);
    case SQLITE_CORRUPT:
      return ErrorCode::kIntegrity;
    case SQLITE_NOTADB:
      return ErrorCode::kMalformed;
    case SQLITE_ERROR:
    case SQLITE_MISMATCH:
    case SQLITE_RANGE:
      return ErrorCode::kInvalidArgument;
    default:  // the int has values beyond those we expect; they are bugs of ours (SQLITE_MISUSE)
      return ErrorCode::kInternal;
  }
}

}  // namespace

schema::Error error_for(int extended_code, std::string_view message, int os_errno) {
  // The system errno of a connection is left over from earlier calls unless this one made it.
  const int primary = extended_code & 0xff;
  const bool from_system = primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN ||
                           primary == SQLITE_FULL || primary == SQLITE_READONLY;
  const int relevant_errno = from_system ? os_errno : 0;
  return {code_for(extended_code, relevant_errno),
          "SQLite " + std::to_string(extended_code) + ": " + schema::escape_for_display(message),
          relevant_errno};
}

}  // namespace aasm::sqlite
