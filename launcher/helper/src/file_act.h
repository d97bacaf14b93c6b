#pragma once

#include "file_walk.h"
#include "text.h"

namespace aasm::helper {

// Where a call on names is made, and what of it comes back. Owns `target` and `opened`.
struct FilePlaces {
  Place first;
  Place second;
  int target = -1;  // O_PATH: what the first name leads to; given, or opened for the call
  int opened = -1;  // by an open
};

// What act() says where it would have to wait: not an errno.
inline constexpr long kMustWait = -4096;

// Makes the call: on `target` where there is one, else at the places. `second_name` is the
// second section of the request as it stands. A result, a negative errno or, only without
// `may_wait`, kMustWait.
long act(const wire::BrokerFile& file, const char* second_name, FilePlaces& places, bool may_wait);

// What the kernel says of an openat2(2)'s flags, mode and ways alone, and of those of an open that
// is first looked up: 0 or a negative errno.
long check_how(const wire::BrokerFile& file);

// Opens what the first name leads to (O_PATH) as places.target, if there is anything.
long open_target(FilePlaces& places);

// Whether it only asks for an execution (file_execute.cc).
bool executes(const wire::BrokerFile& file);
long act_execute(FilePlaces& places, bool may_wait);

// Whether a call of the kind may make the first name, and whether it is to be new.
bool creates_first(const wire::BrokerFile& file);
bool follows_first(const wire::BrokerFile& file);

// "/proc/self/fd/N".
Text own_link(int fd);

}  // namespace aasm::helper
