#pragma once

#include <string>
#include <vector>

#include "aasm/process/shebang.h"

namespace aasm::test {

// First bytes of a script and what becomes of them. "@" stands for the interpreter's path.
struct ShebangRow {
  std::string name;
  std::string head;
  process::ProgramFormat format;
  std::string argument;  // of a script
};

// `interpreter` must be shorter than 200 bytes.
inline std::vector<ShebangRow> shebang_rows(const std::string& interpreter) {
  using process::ProgramFormat;
  const auto line_of_size = [&](std::size_t size, const std::string& end) {
    std::string line = "#!" + interpreter + " ";
    line.resize(size, 'a');
    return line + end;
  };
  const std::string name = interpreter;
  const std::string cut(process::kExecBufferSize, '/');
  return {
      {"plain", "#!" + name + "\n", ProgramFormat::kScript, ""},
      {"no newline at the end of a short file", "#!" + name, ProgramFormat::kScript, ""},
      {"blanks before the name", "#! \t " + name + "\n", ProgramFormat::kScript, ""},
      {"blanks behind the name", "#!" + name + " \t\n", ProgramFormat::kScript, ""},
      {"argument", "#!" + name + " -x\n", ProgramFormat::kScript, "-x"},
      {"argument with blanks inside is one", "#!" + name + "  -x  -y z \t\n",
       ProgramFormat::kScript, "-x  -y z"},
      {"argument without newline", "#!" + name + " -x", ProgramFormat::kScript, "-x"},
      {"carriage return belongs to the argument", "#!" + name + " -x\r\n", ProgramFormat::kScript,
       "-x\r"},
      {"NUL ends the argument", "#!" + name + " -x" + std::string(1, '\0') + "y\n",
       ProgramFormat::kScript, "-x"},
      {"newline as byte 255", line_of_size(255, "\n"), ProgramFormat::kScript,
       line_of_size(255, "").substr(name.size() + 3)},
      {"newline as byte 256 is not seen: the argument is cut", line_of_size(256, "\n"),
       ProgramFormat::kScript, line_of_size(255, "").substr(name.size() + 3)},
      {"long argument is cut", line_of_size(400, "\n"), ProgramFormat::kScript,
       line_of_size(255, "").substr(name.size() + 3)},
      {"nothing behind the mark", "#!\n", ProgramFormat::kBadScript, ""},
      {"only blanks behind the mark", "#! \t \n", ProgramFormat::kBadScript, ""},
      {"blanks to the buffer's end", "#!" + std::string(300, ' '), ProgramFormat::kBadScript, ""},
      {"name that does not fit", "#!" + cut + "\n", ProgramFormat::kBadScript, ""},
      {"space before the mark", " #!" + name + "\n", ProgramFormat::kOther, ""},
      {"half a mark", "#\n!" + name + "\n", ProgramFormat::kOther, ""},
      {"empty file", "", ProgramFormat::kOther, ""},
      {"text", "echo hello\n", ProgramFormat::kOther, ""},
  };
}

}  // namespace aasm::test
