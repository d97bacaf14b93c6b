#pragma once

#include "file_act.h"

// openat2(2) with ways of its own to resolve a name (RESOLVE_*), which only the kernel can keep to.
namespace aasm::helper {

// The call in one piece.
long act_in_one_piece(const wire::BrokerFile& file, int start, const char* name,
                      FilePlaces& places);

// Only looks the name up, in the same ways: what is there becomes places.target; of what is not,
// and may be made, places.first is where it would be.
long find_in_one_piece(const wire::BrokerFile& file, int start, const char* name, WalkText& text,
                       FilePlaces& places);

}  // namespace aasm::helper
