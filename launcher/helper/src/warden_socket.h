#pragma once

#include "aasm/wire/warden_message.h"

namespace aasm::helper {

wire::WardenMessage new_message(wire::WardenMessageKind kind, int pid);

// Sends one message; true when the supervisor can have it.
bool send_message(int socket_fd, const wire::WardenMessage& message);

// As above, with a copy of `fd` (SCM_RIGHTS, unix(7)).
bool send_descriptor(int socket_fd, const wire::WardenMessage& message, int fd);

// Takes one message. True for the order to kill the tree; false at the end of file and for
// everything else, which is no supervisor of ours.
bool receive_kill_order(int socket_fd);

}  // namespace aasm::helper
