#include "aasm/process/shebang.h"

#include <string>

#include <gtest/gtest.h>

#include "shebang_rows.h"

namespace aasm::process {
namespace {

TEST(ShebangTest, FirstLineIsReadAsTheKernelReadsIt) {
  const std::string interpreter = "/usr/bin/interpreter";
  for (const auto& row : test::shebang_rows(interpreter)) {
    const ProgramHead head = parse_program_head(row.head);
    EXPECT_EQ(head.format, row.format) << row.name;
    const bool script = row.format == ProgramFormat::kScript;
    EXPECT_EQ(head.interpreter, script ? interpreter : "") << row.name;
    EXPECT_EQ(head.argument, row.argument) << row.name;
  }
}

TEST(ShebangTest, RelativeAndEmptyInterpretersAreGivenAsTheyStand) {
  EXPECT_EQ(parse_program_head("#!bin/x y\n").interpreter, "bin/x");
  const ProgramHead empty = parse_program_head(std::string("#!\0x\n", 5));
  EXPECT_EQ(empty.format, ProgramFormat::kScript);
  EXPECT_EQ(empty.interpreter, "");
}

TEST(ShebangTest, ElfIsToldByAllFourBytes) {
  EXPECT_EQ(parse_program_head("\x7F"
                               "ELF\x02")
                .format,
            ProgramFormat::kElf);
  EXPECT_EQ(parse_program_head("\x7F"
                               "EL")
                .format,
            ProgramFormat::kOther);
  EXPECT_EQ(parse_program_head("\x7F"
                               "ELG\x02")
                .format,
            ProgramFormat::kOther);
}

}  // namespace
}  // namespace aasm::process
