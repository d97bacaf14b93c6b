#pragma once

#include <cstdint>
#include <vector>

#include "aasm/schema/authority_vocabulary.h"
#include "aasm/schema/result.h"

namespace aasm::process {

// An open descriptor of this process by what it refers to. Nothing is read from it.
struct OpenDescriptor {
  int number = -1;
  schema::DescriptorKind kind = schema::DescriptorKind::kFile;
  bool writable = false;
  bool close_on_exec = false;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
};

// Those that proc(5) lists now, ascending, without the one the listing itself needs. Another thread
// that opens or closes meanwhile may be seen or not: call it while there is one thread.
schema::Result<std::vector<OpenDescriptor>> list_open_descriptors();

}  // namespace aasm::process
