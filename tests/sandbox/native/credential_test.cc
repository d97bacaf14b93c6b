#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "confined_run.h"

namespace aasm::backend_native::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using CredentialTest = ConfinedTest;

constexpr int kFar = 2048;
constexpr int kDirectory = 9;

// A file of ours under a number that an exec would pass on.
void open_as(const std::string& path, int flags, int number) {
  const int fd = ::open(path.c_str(), flags);
  if (fd != number) {
    ::dup2(fd, number);
    ::close(fd);
  }
}

const schema::Control* find_control(const std::vector<schema::ControlPrepared>& records,
                                    const std::string& id) {
  for (const auto& record : records) {
    for (const schema::Control& control : record.controls) {
      if (control.id == id) {
        return &control;
      }
    }
  }
  return nullptr;
}

TEST_P(CredentialTest, DescriptorsThatAreNotListedAreClosed) {
  const std::string secret = layout_.path("secret/file");
  const std::string directory = layout_.path("secret");
  Launch launch;
  launch.before = [&] {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    open_as(secret, O_RDONLY, 7);
    open_as(secret, O_RDONLY, kFar);
    open_as(directory, O_RDONLY | O_DIRECTORY, kDirectory);
  };
  const RunResult result =
      run_actions({"fd", "7", "fd", std::to_string(kFar), "fd", "9", "fd", "1"}, launch);
  for (const char* number : {"7", "2048", "9"}) {
    EXPECT_TRUE(result.says("fd " + std::string(number) + " = " + std::to_string(EBADF)))
        << result.output;
  }
  EXPECT_TRUE(result.says("fd 1 = 0")) << result.output;
}

TEST_P(CredentialTest, NoDescriptorOfOursReachesTheProgram) {
  std::vector<std::string> actions;
  for (int fd = 3; fd < 64; ++fd) {
    actions.push_back("fd");
    actions.push_back(std::to_string(fd));
  }
  const RunResult result = run_actions(actions);
  EXPECT_TRUE(result.says("fd 3 = 9")) << result.output;
  EXPECT_THAT(result.output, ::testing::Not(HasSubstr(" = 0")));
}

TEST_P(CredentialTest, AListedDescriptorIsPassedOnAndRecorded) {
  Launch launch;
  launch.descriptors = {0, 1, 2, 7, 8};
  launch.before = [this] { open_as(layout_.path("ro/file"), O_RDONLY, 7); };
  const RunResult result = run_actions({"fd", "7", "fd", "8"}, launch);
  EXPECT_TRUE(result.says("fd 7 = 0")) << result.output;
  EXPECT_TRUE(result.says("fd 8 = 9")) << "it was not open: " << result.output;
  const auto records = result.all<schema::ControlPrepared>();
  ASSERT_NE(find_control(records, "descriptors"), nullptr);
  EXPECT_THAT(find_control(records, "descriptors")->descriptors, ElementsAre(0, 1, 2, 7));
}

TEST_P(CredentialTest, TheEnvironmentIsExactlyWhatIsDelegated) {
  Launch launch;
  launch.environment = {"HOME=/home/x", "LANG=C"};
  launch.requirements = usual(layout_);
  launch.requirements.push_back(credentials());
  launch.before = [] { ::setenv("SECRET_TOKEN", "t0p", 1); };
  const RunResult result = run_actions({"environment"}, launch);
  EXPECT_TRUE(result.says("env HOME=/home/x")) << result.output;
  EXPECT_THAT(result.output, ::testing::Not(HasSubstr("SECRET_TOKEN")));
  const auto records = result.all<schema::ControlPrepared>();
  ASSERT_NE(find_control(records, "environment"), nullptr);
  EXPECT_THAT(find_control(records, "environment")->names, ElementsAre("HOME", "LANG"));
}

TEST_P(CredentialTest, ThePowerOfRootIsCutAndCannotComeBack) {
  Launch launch;
  launch.requirements = {reads(layout_, {"/proc"}), writes(layout_)};
  const RunResult result = run_actions({"status"}, launch);
  const bool root = GetParam() == As::kSelf && ::geteuid() == 0;
  const std::string kept = root ? "00000000000004db" : "0000000000000000";
  EXPECT_TRUE(result.says("CapEff:\t" + kept)) << result.output;
  EXPECT_TRUE(result.says("CapPrm:\t" + kept)) << result.output;
  EXPECT_TRUE(result.says("CapInh:\t0000000000000000")) << result.output;
  EXPECT_TRUE(result.says("CapAmb:\t0000000000000000")) << result.output;
  if (root) {
    EXPECT_TRUE(result.says("CapBnd:\t" + kept)) << result.output;
    ASSERT_TRUE(result.canary("capabilities.raise"));
    EXPECT_TRUE(result.canary("capabilities.raise")->proves());
  }
  EXPECT_TRUE(result.says("NoNewPrivs:\t1")) << result.output;
  EXPECT_TRUE(result.says("Seccomp:\t2")) << result.output;
}

INSTANTIATE_TEST_SUITE_P(Users, CredentialTest, ::testing::Values(As::kSelf, As::kNobody),
                         name_of_user);

}  // namespace
}  // namespace aasm::backend_native::testing
