#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "as_user.h"
#include "launch_harness.h"
#include "script_calls.h"
#include "temp_dir.h"

// Each boundary step has a canary; with a helper that leaves the step out and says that it did it,
// the canary is the only thing that tells.
namespace aasm::test {
namespace {

using wire::ArgKind;

constexpr long kLandlockCreateRuleset = 444;
constexpr std::uint64_t kLandlockWriteFile = 1U << 1;

struct CanaryResult {
  std::int64_t control = wire::kNotAttempted;
  std::int64_t inside = wire::kNotAttempted;
  bool all_steps_reported_done = false;
  int wait_status = -1;
};

// Launches the probe's "exit 0" behind four canaries with the given helper and yields the results
// of the one that watches `step`.
class CanaryLaunch {
 public:
  explicit CanaryLaunch(const TempDir& dir) : probe_(open_probe_program()) {
    const std::string path = dir.file("canary");
    std::ofstream(path) << "x";
    const std::uint64_t handled = kLandlockWriteFile;
    ruleset_.reset(
        static_cast<int>(::syscall(kLandlockCreateRuleset, &handled, sizeof(handled), 0)));
    unlisted_ = std::move(process::open_file("/dev/null", O_RDONLY)).value();
    landlock_ = script_.add(SYS_openat, {{ArgKind::kValue, static_cast<std::uint64_t>(AT_FDCWD)},
                                         script_.text(path),
                                         {ArgKind::kValue, O_WRONLY | O_CLOEXEC}});
    script_.last().flags = wire::kCloseAfterControl;
    seccomp_ = script_.add(SYS_unshare, {{ArgKind::kValue, 0}});
    descriptors_ =
        script_.add(SYS_fcntl, {{ArgKind::kValue, static_cast<std::uint64_t>(unlisted_.get())},
                                {ArgKind::kValue, F_GETFD}});
    const int own = ::getpriority(PRIO_PROCESS, 0);
    const auto renice = [&](int to, std::uint8_t when) {
      return script_.add(SYS_setpriority,
                         {{ArgKind::kValue, PRIO_PROCESS},
                          {ArgKind::kValue, 0},
                          {ArgKind::kValue, static_cast<std::uint64_t>(std::int64_t{to})}},
                         when);
    };
    capabilities_ = renice(own - 1, wire::kWhenControl | wire::kWhenInside);
    renice(own, wire::kWhenControl);
  }

  schema::Result<CanaryResult> run(const std::string& helper, std::uint32_t entry) {
    auto spec = probe_.spec({"exit", "0"});
    script_.fill(spec);
    spec.filter = small_filter({SYS_unshare});
    spec.rulesets = {{ruleset_.get(), 0}};
    spec.capabilities = backend_native::CapabilityCut{1, ::geteuid() == 0};
    const auto finished = AASM_TRY(run_launch(spec, helper, {unlisted_.get()}));
    CanaryResult result;
    result.control = finished.results.script[entry].control;
    result.inside = finished.results.script[entry].inside;
    result.wait_status = finished.exit.wait_status;
    result.all_steps_reported_done = true;
    for (const auto step : {wire::Step::kLandlock, wire::Step::kSeccomp, wire::Step::kDescriptors,
                            wire::Step::kCapabilities, wire::Step::kCanaries}) {
      result.all_steps_reported_done =
          result.all_steps_reported_done &&
          finished.results.steps[static_cast<std::size_t>(step)].state ==
              static_cast<std::uint32_t>(wire::StepState::kDone);
    }
    return result;
  }

  std::uint32_t landlock() const { return landlock_; }
  std::uint32_t seccomp() const { return seccomp_; }
  std::uint32_t descriptors() const { return descriptors_; }
  std::uint32_t capabilities() const { return capabilities_; }

 private:
  ProbeProgram probe_;
  process::Fd ruleset_;
  process::Fd unlisted_;
  ScriptCalls script_;
  std::uint32_t landlock_ = 0;
  std::uint32_t seccomp_ = 0;
  std::uint32_t descriptors_ = 0;
  std::uint32_t capabilities_ = 0;
};

struct Row {
  const char* name;
  std::uint32_t (CanaryLaunch::*entry)() const;
  int refusal;  // errno of the sound helper's inside half
  bool root_only;
};

const Row kRows[] = {
    {"landlock", &CanaryLaunch::landlock, EACCES, false},
    {"seccomp", &CanaryLaunch::seccomp, EPERM, false},
    {"descriptors", &CanaryLaunch::descriptors, EBADF, false},
    {"capabilities", &CanaryLaunch::capabilities, EACCES, true},
};

class OmittedStepTest : public testing::TestWithParam<bool> {
 protected:
  static void expect_passes(const std::function<std::string()>& body) {
    EXPECT_EQ(run_in_child(GetParam(), body), "");
  }
};

INSTANTIATE_TEST_SUITE_P(Users, OmittedStepTest, testing::Bool(), [](const auto& row) {
  return std::string(row.param ? "Nobody" : "Caller");
});

TEST_P(OmittedStepTest, SoundHelperIsRefusedInsideWhatItCouldDoBefore) {
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.name);
    expect_passes([&row]() -> std::string {
      if (row.root_only && ::geteuid() != 0) {
        return {};
      }
      const TempDir dir;
      CanaryLaunch launch(dir);
      const auto result = launch.run(AASM_HELPER, (launch.*row.entry)());
      AASM_CHILD_CHECK(result.has_value(), result.error().message());
      AASM_CHILD_CHECK(result->control >= 0, std::to_string(result->control));
      AASM_CHILD_CHECK(result->inside == -row.refusal, std::to_string(result->inside));
      AASM_CHILD_CHECK(result->all_steps_reported_done, "");
      AASM_CHILD_CHECK(result->wait_status == 0, "");
      return {};
    });
  }
}

TEST_P(OmittedStepTest, HelperThatLeavesAStepOutSaysDoneButSucceedsInside) {
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.name);
    expect_passes([&row]() -> std::string {
      if (row.root_only && ::geteuid() != 0) {
        return {};
      }
      const TempDir dir;
      CanaryLaunch launch(dir);
      const auto result =
          launch.run(std::string(AASM_HELPER "-no-") + row.name, (launch.*row.entry)());
      AASM_CHILD_CHECK(result.has_value(), result.error().message());
      AASM_CHILD_CHECK(result->control >= 0, std::to_string(result->control));
      AASM_CHILD_CHECK(result->inside >= 0, std::to_string(result->inside));
      AASM_CHILD_CHECK(result->all_steps_reported_done, "");
      return {};
    });
  }
}

TEST_P(OmittedStepTest, WithoutAFilterThereIsNoListenerAndNoProgram) {
  expect_passes([]() -> std::string {
    const auto probe = open_probe_program();
    auto launch = start_launch(probe.spec({"exit", "0"}), AASM_HELPER "-no-seccomp");
    AASM_CHILD_CHECK(launch.has_value(), launch.error().message());
    AASM_CHILD_CHECK(launch->answerer == nullptr, "");
    const auto exit = launch->client->wait_exit(kPatience);
    AASM_CHILD_CHECK(exit && *exit, "");
    AASM_CHILD_CHECK(WEXITSTATUS((*exit)->wait_status) == wire::kHelperExitStatus, "");
    AASM_CHILD_CHECK(launch->client->results().failed_step == wire::Step::kGo, "");
    return {};
  });
}

}  // namespace
}  // namespace aasm::test
