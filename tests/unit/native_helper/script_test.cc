#include <fcntl.h>
#include <linux/seccomp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include <gtest/gtest.h>

#include "as_user.h"
#include "launch_harness.h"
#include "script_calls.h"
#include "temp_dir.h"

namespace aasm::test {
namespace {

using backend_native::FrameSpec;
using wire::ArgKind;

FrameSpec probe_spec(const ScriptCalls& script) {
  FrameSpec spec;
  spec.role = wire::Role::kProbe;
  spec.descriptors = {1, 2};
  script.fill(spec);
  return spec;
}

struct ProbeOutcome {
  int wait_status = -1;
  pid_t child = 0;
  backend_native::HelperResults results;
};

schema::Result<ProbeOutcome> run_probe(const FrameSpec& spec) {
  const Launch launch = AASM_TRY(start_launch(spec));
  if (launch.answerer && launch.answerer->wait_ready()) {
    launch.answerer->release();
  }
  const auto exit = AASM_TRY(launch.client->wait_exit(kPatience));
  return ProbeOutcome{exit ? exit->wait_status : -1, launch.client->child_pid(),
                      launch.client->results()};
}

class ScriptTest : public testing::TestWithParam<bool> {
 protected:
  static void expect_passes(const std::function<std::string()>& body) {
    EXPECT_EQ(run_in_child(GetParam(), body), "");
  }
};

INSTANTIATE_TEST_SUITE_P(Users, ScriptTest, testing::Bool(), [](const auto& row) {
  return std::string(row.param ? "Nobody" : "Caller");
});

TEST_P(ScriptTest, EachArgumentKindGivesWhatItNames) {
  expect_passes([]() -> std::string {
    ScriptCalls script;
    const auto pid = script.add(SYS_getpid, {});
    const auto parent = script.add(SYS_getppid, {});
    // kill(pid, 0) of the caller itself and of the warden.
    const auto self = script.add(SYS_kill, {{ArgKind::kOwnPid, 0}, {ArgKind::kValue, 0}});
    const auto warden = script.add(SYS_kill, {{ArgKind::kWardenPid, 0}, {ArgKind::kValue, 0}});
    const auto file =
        script.add(SYS_openat, {{ArgKind::kValue, static_cast<std::uint64_t>(AT_FDCWD)},
                                script.text("/dev/zero"),
                                {ArgKind::kValue, O_RDONLY}});
    const auto read = script.add(
        SYS_read, {{ArgKind::kResult, file}, {ArgKind::kScratch, 16}, {ArgKind::kValue, 100}});
    const auto closed = script.add(SYS_close, {{ArgKind::kResult, file}});
    auto outcome = run_probe(probe_spec(script));
    AASM_CHILD_CHECK(outcome.has_value(), outcome.error().message());
    AASM_CHILD_CHECK(outcome->wait_status == 0, "");
    const auto& results = outcome->results.script;
    for (const auto half : {&wire::ScriptResult::control, &wire::ScriptResult::inside}) {
      AASM_CHILD_CHECK(results[pid].*half == outcome->child, "");
      AASM_CHILD_CHECK(results[parent].*half > 0, "");
      AASM_CHILD_CHECK(results[self].*half == 0, "");
      AASM_CHILD_CHECK(results[warden].*half == 0, "");
      AASM_CHILD_CHECK(results[file].*half >= 0, "");
      AASM_CHILD_CHECK(results[read].*half == 100, "");
      AASM_CHILD_CHECK(results[closed].*half == 0, "");
    }
    return {};
  });
}

TEST_P(ScriptTest, EntryRunsOnlyInItsHalves) {
  expect_passes([]() -> std::string {
    ScriptCalls script;
    const auto control = script.add(SYS_getpid, {}, wire::kWhenControl);
    const auto inside = script.add(SYS_getpid, {}, wire::kWhenInside);
    auto outcome = run_probe(probe_spec(script));
    AASM_CHILD_CHECK(outcome.has_value(), outcome.error().message());
    const auto& results = outcome->results.script;
    AASM_CHILD_CHECK(results[control].control > 0, "");
    AASM_CHILD_CHECK(results[control].inside == wire::kNotAttempted, "");
    AASM_CHILD_CHECK(results[inside].control == wire::kNotAttempted, "");
    AASM_CHILD_CHECK(results[inside].inside > 0, "");
    return {};
  });
}

TEST_P(ScriptTest, DescriptorThatIsToBeClosedIsClosedInItsHalf) {
  expect_passes([]() -> std::string {
    ScriptCalls script;
    const std::uint64_t number = 77;
    const auto close_in = [&](std::uint8_t flags) {
      const auto opened = script.add(SYS_dup3, {{ArgKind::kValue, 2}, {ArgKind::kValue, number}});
      script.last().flags = flags;
      static_cast<void>(opened);
      return script.add(SYS_fcntl, {{ArgKind::kValue, number}, {ArgKind::kValue, F_GETFD}});
    };
    const auto kept = close_in(0);
    const auto control = close_in(wire::kCloseAfterControl);
    const auto inside = close_in(wire::kCloseAfterInside);
    auto outcome = run_probe(probe_spec(script));
    AASM_CHILD_CHECK(outcome.has_value(), outcome.error().message());
    const auto& results = outcome->results.script;
    AASM_CHILD_CHECK(results[kept].control == 0 && results[kept].inside == 0, "");
    AASM_CHILD_CHECK(results[control].control == -EBADF && results[control].inside == 0, "");
    AASM_CHILD_CHECK(results[inside].control == 0 && results[inside].inside == -EBADF, "");
    return {};
  });
}

TEST_P(ScriptTest, InsideHalfOfAProbeRunsInAGrandchild) {
  expect_passes([]() -> std::string {
    ScriptCalls script;
    const auto pid = script.add(SYS_getpid, {});
    const auto self = script.add(SYS_kill, {{ArgKind::kOwnPid, 0}, {ArgKind::kValue, 0}});
    const auto parent = script.add(SYS_getppid, {});
    auto spec = probe_spec(script);
    spec.fork_depth = 2;
    auto outcome = run_probe(spec);
    AASM_CHILD_CHECK(outcome.has_value(), outcome.error().message());
    AASM_CHILD_CHECK(outcome->wait_status == 0, "");
    const auto& results = outcome->results.script;
    AASM_CHILD_CHECK(results[pid].control == outcome->child, "");
    AASM_CHILD_CHECK(results[pid].inside > 0 && results[pid].inside != outcome->child, "");
    AASM_CHILD_CHECK(results[parent].inside != outcome->child, "only one level down");
    AASM_CHILD_CHECK(results[self].inside == 0, "");
    return {};
  });
}

TEST_P(ScriptTest, DeathOfTheGrandchildFailsTheStep) {
  expect_passes([]() -> std::string {
    ScriptCalls script;
    script.add(SYS_exit_group, {{ArgKind::kValue, 3}}, wire::kWhenInside);
    auto spec = probe_spec(script);
    spec.fork_depth = 2;
    auto outcome = run_probe(spec);
    AASM_CHILD_CHECK(outcome.has_value(), outcome.error().message());
    AASM_CHILD_CHECK(outcome->results.failed_step == wire::Step::kCanaries, "");
    AASM_CHILD_CHECK(WEXITSTATUS(outcome->wait_status) == wire::kHelperExitStatus, "");
    return {};
  });
}

TEST_P(ScriptTest, FilteredCallOfAProbeSucceedsBeforeTheBoundaryAndIsRefusedInside) {
  expect_passes([]() -> std::string {
    ScriptCalls script;
    const auto unshare = script.add(SYS_unshare, {{ArgKind::kValue, 0}});
    auto spec = probe_spec(script);
    spec.fork_depth = 2;
    spec.filter = small_filter({SYS_unshare});
    spec.seccomp_flags = SECCOMP_FILTER_FLAG_NEW_LISTENER;
    auto outcome = run_probe(spec);
    AASM_CHILD_CHECK(outcome.has_value(), outcome.error().message());
    AASM_CHILD_CHECK(outcome->results.script[unshare].control == 0, "");
    AASM_CHILD_CHECK(outcome->results.script[unshare].inside == -EPERM, "");
    AASM_CHILD_CHECK(outcome->wait_status == 0, "");
    return {};
  });
}

}  // namespace
}  // namespace aasm::test
