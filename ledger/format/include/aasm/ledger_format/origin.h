#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "aasm/schema/result.h"

namespace aasm::ledger_format {

// A ledger's origin: "<domain>/ledger/<16 lower-case hex>", at most 255 bytes. The domain is a
// host name: lower-case letters, digits and hyphens in dot-separated labels of 1 to 63. Hence no
// spaces, plus signs or control characters; names that begin with "DSSEv1" get their own message.
// kMalformed, saying what is wrong.
schema::Result<void> check_origin(std::string_view origin);

// A new incarnation's origin from 16 random bytes: the digits are the first 16 of the version 4
// UUID made of them. Upper-case letters of `domain` are lowered first; kInvalidArgument when it
// still is no domain.
schema::Result<std::string> make_origin(std::string_view domain,
                                        std::span<const std::uint8_t, 16> random);

}  // namespace aasm::ledger_format
