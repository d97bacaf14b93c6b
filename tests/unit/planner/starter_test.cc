#include "aasm/planner/starter.h"

#include <string>

#include <gtest/gtest.h>

#include "aasm/planner/planner.h"

#include "planner_support.h"
#include "temp_dir.h"

namespace aasm::planner {
namespace {

// Reads a document as a run in `dir` would, against this machine.
ResolvedPolicy resolve(const std::string& text, const std::string& dir) {
  PolicyRequest request;
  request.sources.option = "/p.yaml";
  request.current_dir = dir;
  request.paths = {dir, dir};
  request.hash = testing::fake_hash;
  request.reader = [text](const std::string&, std::size_t) {
    return schema::Result<std::optional<std::string>>(std::optional<std::string>(text));
  };
  return resolve_policy(request);
}

TEST(StarterTest, TheStarterPolicyLoadsOnTheMachineItWasWrittenFor) {
  const testing::TempDir dir;
  const ResolvedPolicy policy = resolve(starter_policy(path_exists), dir.path());
  EXPECT_EQ(policy.record.error, "");
  EXPECT_EQ(policy.record.state, schema::PolicyState::kEnforced);
  for (const schema::PolicyGap& gap : policy.record.gaps) {
    EXPECT_EQ(gap.reason.find("does not exist"), std::string::npos) << gap.node;
  }
  const schema::Requirement* write =
      policy.record.requirement_for(schema::Domain::kFilesystemWrite);
  ASSERT_NE(write, nullptr);
  EXPECT_EQ(write->rules[0].selector.value.bytes(), dir.path());
}

TEST(StarterTest, OnlyWhatExistsIsGranted) {
  const std::string text = starter_policy([](const std::string& path) { return path == "/usr"; });
  EXPECT_NE(text.find("- /usr\n"), std::string::npos);
  EXPECT_EQ(text.find("- /lib\n"), std::string::npos);
  EXPECT_EQ(text.find("- /dev/null\n"), std::string::npos);
  EXPECT_EQ(testing::problems_of(text), "");
}

TEST(StarterTest, TheDemoPolicyLoads) {
  const testing::TempDir dir;
  const ResolvedPolicy policy =
      resolve(testing::file_text(std::string(AASM_SOURCE_DIR) + "/examples/policies/demo.yaml"),
              dir.path());
  EXPECT_EQ(policy.record.error, "");
  EXPECT_EQ(policy.record.state, schema::PolicyState::kEnforced);
  for (const schema::Domain domain :
       {schema::Domain::kFilesystemRead, schema::Domain::kFilesystemWrite, schema::Domain::kSyscall,
        schema::Domain::kCredential}) {
    EXPECT_NE(policy.record.requirement_for(domain), nullptr) << schema::token(domain);
  }
}

}  // namespace
}  // namespace aasm::planner
