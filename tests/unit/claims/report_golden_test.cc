#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

#include "aasm/schema/json_write.h"

#include "report_samples.h"

// The renderings of each sample, byte for byte. AASM_TEST_ACCEPT=1 writes the files instead
// of comparing, and then the tests report skipped.
namespace aasm::claims::test {
namespace {

bool accepting() {
  const char* asked = std::getenv("AASM_TEST_ACCEPT");
  return asked != nullptr && std::string(asked) == "1";
}

std::string golden_path(const std::string& file) {
  return std::string(AASM_SOURCE_DIR) + "/tests/testdata/reports/" + file;
}

void check(const std::string& file, const std::string& rendered) {
  SCOPED_TRACE(file);
  if (accepting()) {
    std::ofstream out(golden_path(file), std::ios::binary);
    out << rendered;
    ASSERT_TRUE(out.good());
    return;
  }
  std::ifstream in(golden_path(file), std::ios::binary);
  ASSERT_TRUE(in.is_open()) << "the golden file is missing";
  const std::string stored((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  EXPECT_EQ(rendered, stored);
}

TEST(ReportGoldenTest, HumanRenderingsAreAsStored) {
  for (const NamedReport& sample : report_samples()) {
    check(sample.name + ".txt", render_summary(sample.report) + "\n" + render_human(sample.report));
  }
  if (accepting()) {
    GTEST_SKIP() << "golden files were written, nothing was compared";
  }
}

TEST(ReportGoldenTest, MachineRenderingsAreAsStored) {
  for (const NamedReport& sample : report_samples()) {
    check(sample.name + ".lines", render_machine(sample.report));
  }
  if (accepting()) {
    GTEST_SKIP() << "golden files were written, nothing was compared";
  }
}

TEST(ReportGoldenTest, JsonRenderingsAreAsStored) {
  for (const NamedReport& sample : report_samples()) {
    check(sample.name + ".json", schema::json_write(render_json(sample.report)) + "\n");
  }
  if (accepting()) {
    GTEST_SKIP() << "golden files were written, nothing was compared";
  }
}

}  // namespace
}  // namespace aasm::claims::test
