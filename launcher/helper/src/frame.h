#pragma once

#include "aasm/wire/helper_wire.h"

namespace aasm::helper {

// A validated frame: pointers into the mapped memfd, and the two arrays that execve(2) wants. Lives
// as long as the process.
struct Frame {
  const wire::FrameHeader* header;
  const int32_t* descriptors;
  uint32_t num_descriptors;
  const wire::Rlimit* rlimits;
  uint32_t num_rlimits;
  const wire::FilterInstruction* filter;
  uint32_t num_instructions;
  const wire::ScriptEntry* script;
  uint32_t num_entries;
  const char* data;
  const char* exec_path;  // null when the program is executed by descriptor
  const char** argv;      // ended by a null pointer
  const char** envp;
};

// The descriptors that supervisor and helper use between themselves: at most this many.
inline constexpr uint32_t kMaxInternal = 6 + wire::kMaxRulesets;

// Maps and checks the frame behind `fd`. False when anything about it is not as aasm/wire/frame.h
// says; nothing has been done then.
bool load_frame(int fd, Frame& frame);

// Maps the status page that the frame names; null when it is not one.
wire::StatusPage* load_status(const Frame& frame);

// Numbers of the frame's internal descriptors, as many as there are. `list` holds kMaxInternal.
uint32_t internal_descriptors(const wire::FrameHeader& header, int32_t* list);

}  // namespace aasm::helper
