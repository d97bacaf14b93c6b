#pragma once

#include "aasm/wire/helper_wire.h"

namespace aasm::helper {

// Whether the frame at `base`, `header.total_size` readable bytes that came from descriptor
// `frame_fd`, obeys every rule of aasm/wire/frame.h and script.h. No system call.
bool check_frame(const char* base, const wire::FrameHeader& header, int frame_fd);

}  // namespace aasm::helper
