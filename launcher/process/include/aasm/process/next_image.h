#pragma once

#include <cstdint>
#include <string>

#include "aasm/schema/result.h"

// What the kernel opens besides a file in order to execute it.
namespace aasm::process {

struct NextImage {
  enum class Kind : std::uint8_t {
    kNone,         // nothing: a static program, or a format left to binfmt_misc
    kInterpreter,  // of "#!"; it may have one itself
    kLoader,       // the dynamic loader that an ELF file names; nothing comes behind it
    kRefused,      // a "#!" line or ELF header that the kernel refuses (ENOEXEC)
  };
  Kind kind = Kind::kNone;
  std::string path;  // as the file spells it; a relative one starts from the caller's directory
};

// Reads the beginning of the file, and the name of its loader where that lies elsewhere
// (fs/binfmt_script.c, fs/binfmt_elf.c). An Error means that the file cannot be read.
schema::Result<NextImage> next_image(const std::string& path);

}  // namespace aasm::process
