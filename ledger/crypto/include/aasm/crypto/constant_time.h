#pragma once

#include "aasm/schema/digest.h"

namespace aasm::crypto {

// True when both have the same length and bytes. The time depends on the lengths, not on where
// the bytes differ. For secrets; public hashes are compared with ==.
bool equal_constant_time(schema::ByteView left, schema::ByteView right);

}  // namespace aasm::crypto
