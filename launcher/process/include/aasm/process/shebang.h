#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

// How the kernel reads the first bytes of a program: fs/binfmt_script.c of Linux 5.1 and later.
namespace aasm::process {

inline constexpr std::size_t kExecBufferSize = 256;  // BINPRM_BUF_SIZE

enum class ProgramFormat : std::uint8_t {
  kElf,
  kScript,     // "#!" with an interpreter
  kBadScript,  // "#!" that the kernel refuses: no interpreter, or one that does not fit
  kOther,      // left to the kernel (binfmt_misc), which may refuse it
};

struct ProgramHead {
  ProgramFormat format = ProgramFormat::kOther;
  std::string interpreter;  // of kScript; may be relative
  std::string argument;     // of kScript: the one optional argument, blanks inside included
};

// Classifies a program by its first kExecBufferSize bytes, or all of them when it is shorter. Pure.
ProgramHead parse_program_head(std::string_view head);

}  // namespace aasm::process
