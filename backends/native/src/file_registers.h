#pragma once

#include <fcntl.h>
#include <linux/seccomp.h>

#include <cstddef>
#include <cstdint>

#include "file_request.h"

namespace aasm::backend_native {

// Reads registers as the kernel does: descriptors, flags and modes are 32 bits.
class Registers {
 public:
  explicit Registers(const seccomp_data& data) : data_(data) {}
  std::uint64_t whole(std::size_t index) const { return data_.args[index]; }
  std::uint32_t word(std::size_t index) const {
    return static_cast<std::uint32_t>(data_.args[index]);
  }
  NameArgument name(std::size_t index) const { return {AT_FDCWD, whole(index)}; }
  NameArgument name_at(std::size_t directory) const {
    return {static_cast<std::int32_t>(word(directory)), whole(directory + 1)};
  }

 private:
  const seccomp_data& data_;
};

}  // namespace aasm::backend_native
