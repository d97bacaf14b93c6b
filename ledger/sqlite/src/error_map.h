#pragma once

#include <string_view>

#include "aasm/schema/error.h"

namespace aasm::sqlite {

// An Error for an extended SQLite result code; `message` is SQLite's and may repeat bytes of the
// file, so it is escaped here.
schema::Error error_for(int extended_code, std::string_view message, int os_errno);

}  // namespace aasm::sqlite
