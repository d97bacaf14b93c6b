#pragma once

namespace aasm::helper {

// From now on this thread makes names of sockets below this directory only (landlock(7)); it keeps
// to that until its end. 0 or a negative errno.
long make_sockets_below(int directory);

}  // namespace aasm::helper
