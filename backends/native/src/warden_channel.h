#pragma once

#include "aasm/process/fd.h"
#include "aasm/schema/result.h"
#include "aasm/wire/warden_message.h"

// One packet to or from the warden (aasm/wire/warden_message.h).
namespace aasm::backend_native {

struct ReceivedMessage {
  wire::WardenMessage message = {};
  process::Fd descriptor;  // valid when one came along
};

// Takes the next packet, waiting for it. kUnavailable at the end of file: the warden is gone;
// kMalformed for anything that is not one message with at most one descriptor.
schema::Result<ReceivedMessage> receive_message(process::BorrowedFd socket);

// False when the warden is gone.
bool send_kill_order(process::BorrowedFd socket);

}  // namespace aasm::backend_native
