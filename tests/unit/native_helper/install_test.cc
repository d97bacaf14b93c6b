#include <fcntl.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "as_user.h"
#include "launch_harness.h"
#include "temp_dir.h"

namespace aasm::test {
namespace {

using wire::Step;
using wire::StepState;

std::uint64_t bit(unsigned number) {
  return std::uint64_t{1} << number;
}

std::string hex16(std::uint64_t mask) {
  char text[17] = {};
  std::snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(mask));
  return text;
}

class InstallTest : public testing::TestWithParam<bool> {
 protected:
  static void expect_passes(const std::function<std::string()>& body) {
    EXPECT_EQ(run_in_child(GetParam(), body), "");
  }
};

INSTANTIATE_TEST_SUITE_P(Users, InstallTest, testing::Bool(), [](const auto& row) {
  return std::string(row.param ? "Nobody" : "Caller");
});

TEST_P(InstallTest, ProgramHasNoNewPrivsAndTheFilter) {
  expect_passes([]() -> std::string {
    const auto probe = open_probe_program();
    const auto dump = run_dump(probe.spec({}));
    AASM_CHILD_CHECK(dump.has_value(), dump.error().message());
    AASM_CHILD_CHECK(dump->status_line("NoNewPrivs") == "1", "");
    AASM_CHILD_CHECK(dump->status_line("Seccomp") == "2", "");
    return {};
  });
}

TEST_P(InstallTest, SignalsOfTheProgramAreThoseOfTheFrame) {
  expect_passes([]() -> std::string {
    const auto probe = open_probe_program();
    auto spec = probe.spec({});
    spec.signal_mask = bit(SIGUSR2 - 1) | bit(63);
    spec.ignored_signals = bit(SIGHUP - 1) | bit(33);
    const auto dump = run_dump(spec);
    AASM_CHILD_CHECK(dump.has_value(), dump.error().message());
    AASM_CHILD_CHECK(dump->status_line("SigBlk") == hex16(spec.signal_mask), "");
    AASM_CHILD_CHECK(dump->status_line("SigIgn") == hex16(spec.ignored_signals),
                     dump->status_line("SigIgn"));
    return {};
  });
}

TEST_P(InstallTest, SignalsIgnoredBySupervisorAloneAreDefaultInTheProgram) {
  expect_passes([]() -> std::string {
    ::signal(SIGPIPE, SIG_IGN);
    const auto probe = open_probe_program();
    const auto dump = run_dump(probe.spec({}));
    AASM_CHILD_CHECK(dump.has_value(), dump.error().message());
    AASM_CHILD_CHECK(dump->status_line("SigIgn") == hex16(0), dump->status_line("SigIgn"));
    AASM_CHILD_CHECK(dump->status_line("SigBlk") == hex16(0), "");
    return {};
  });
}

TEST_P(InstallTest, ResourceLimitsAreSet) {
  expect_passes([]() -> std::string {
    const auto probe = open_probe_program();
    auto spec = probe.spec({});
    spec.rlimits = {{RLIMIT_NOFILE, 0, 77, 77}, {RLIMIT_CORE, 0, 0, 0}};
    const auto dump = run_dump(spec);
    AASM_CHILD_CHECK(dump.has_value(), dump.error().message());
    AASM_CHILD_CHECK(dump->nofile == 77, std::to_string(dump->nofile));
    return {};
  });
}

TEST_P(InstallTest, LimitThatTheKernelRefusesEndsTheLaunchAndIsNamed) {
  expect_passes([]() -> std::string {
    rlimit limit = {64, 64};
    AASM_CHILD_CHECK(::setrlimit(RLIMIT_NOFILE, &limit) == 0, "");
    const auto probe = open_probe_program();
    auto spec = probe.spec({"exit", "0"});
    // Beyond fs.nr_open, which root may not exceed either.
    spec.rlimits = {{RLIMIT_NOFILE, 0, 1ULL << 40, 1ULL << 40}};
    const auto helper = std::move(process::open_file(AASM_HELPER, O_PATH)).value();
    auto client = backend_native::HelperClient::spawn({helper.borrow(), spec, {}}, kPatience);
    AASM_CHILD_CHECK(client.has_value(), client.error().message());
    const auto listener = client->wait_filter_installed(kPatience);
    AASM_CHILD_CHECK(!listener.has_value(), "");
    const auto results = client->results();
    AASM_CHILD_CHECK(results.failed_step == Step::kResourceLimits, "");
    const auto report = results.steps[static_cast<std::size_t>(Step::kResourceLimits)];
    AASM_CHILD_CHECK(report.os_errno == EPERM, std::to_string(report.os_errno));
    AASM_CHILD_CHECK(report.detail == RLIMIT_NOFILE, "");
    const auto later = results.steps[static_cast<std::size_t>(Step::kSeccomp)];
    AASM_CHILD_CHECK(later.state == static_cast<unsigned>(StepState::kPending), "");
    return {};
  });
}

TEST_P(InstallTest, ProgramWorksInTheDirectoryThatWasPassed) {
  expect_passes([]() -> std::string {
    const TempDir dir;
    const auto cwd = process::open_file(dir.path().string(), O_PATH | O_DIRECTORY);
    const auto probe = open_probe_program();
    auto spec = probe.spec({});
    spec.cwd_fd = cwd->get();
    const auto dump = run_dump(spec);
    AASM_CHILD_CHECK(dump.has_value(), dump.error().message());
    AASM_CHILD_CHECK(dump->cwd == std::filesystem::canonical(dir.path()).string(), dump->cwd);
    return {};
  });
}

TEST_P(InstallTest, FlagThatTheKernelTookIsReported) {
  expect_passes([]() -> std::string {
    const auto probe = open_probe_program();
    auto spec = probe.spec({"exit", "0"});
    constexpr unsigned kWaitKillableRecv = 1U << 5;
    spec.seccomp_flags |= kWaitKillableRecv;
    const auto finished = run_launch(spec);
    AASM_CHILD_CHECK(finished.has_value(), finished.error().message());
    AASM_CHILD_CHECK(finished->results.seccomp_flags == spec.seccomp_flags, "");
    return {};
  });
}

TEST_P(InstallTest, FilterThatTheKernelRefusesEndsTheLaunch) {
  expect_passes([]() -> std::string {
    const auto probe = open_probe_program();
    auto spec = probe.spec({"exit", "0"});
    spec.filter.pop_back();  // the program may now run over its end
    const auto helper = std::move(process::open_file(AASM_HELPER, O_PATH)).value();
    auto client = backend_native::HelperClient::spawn({helper.borrow(), spec, {}}, kPatience);
    AASM_CHILD_CHECK(client.has_value(), client.error().message());
    AASM_CHILD_CHECK(!client->wait_filter_installed(kPatience).has_value(), "");
    AASM_CHILD_CHECK(client->results().failed_step == Step::kSeccomp, "");
    return {};
  });
}

TEST_P(InstallTest, CapabilitiesBeyondTheKeptOnesAreGone) {
  expect_passes([]() -> std::string {
    const std::uint64_t keep = bit(CAP_CHOWN) | bit(CAP_SETUID);
    const bool root = ::geteuid() == 0;
    const auto probe = open_probe_program();
    auto spec = probe.spec({});
    spec.capabilities = backend_native::CapabilityCut{keep, root};
    const auto dump = run_dump(spec);
    AASM_CHILD_CHECK(dump.has_value(), dump.error().message());
    const std::string left = hex16(root ? keep : 0);
    for (const char* line : {"CapPrm", "CapEff"}) {
      AASM_CHILD_CHECK(dump->status_line(line) == left, dump->status_line(line));
    }
    AASM_CHILD_CHECK(!root || dump->status_line("CapBnd") == hex16(keep),
                     dump->status_line("CapBnd"));
    AASM_CHILD_CHECK(dump->status_line("CapInh") == hex16(0), "");
    return {};
  });
}

TEST_P(InstallTest, PermittedCapabilitiesAreCutAlsoWhereTheBoundingSetIsLeft) {
  expect_passes([]() -> std::string {
    const std::uint64_t keep = bit(CAP_CHOWN);
    const auto probe = open_probe_program();
    auto spec = probe.spec({});
    spec.capabilities = backend_native::CapabilityCut{keep, false};
    const auto dump = run_dump(spec);
    AASM_CHILD_CHECK(dump.has_value(), dump.error().message());
    const std::string left = hex16(::geteuid() == 0 ? keep : 0);
    AASM_CHILD_CHECK(dump->status_line("CapPrm") == left, dump->status_line("CapPrm"));
    AASM_CHILD_CHECK(dump->status_line("CapEff") == left, dump->status_line("CapEff"));
    return {};
  });
}

TEST_P(InstallTest, BoundingSetThatCannotBeCutEndsTheLaunchAndNamesTheCapability) {
  expect_passes([]() -> std::string {
    if (::geteuid() == 0) {
      return {};  // root can cut it: the test above
    }
    const auto probe = open_probe_program();
    auto spec = probe.spec({"exit", "0"});
    spec.capabilities = backend_native::CapabilityCut{bit(0) | bit(1), true};
    const auto helper = std::move(process::open_file(AASM_HELPER, O_PATH)).value();
    auto client = backend_native::HelperClient::spawn({helper.borrow(), spec, {}}, kPatience);
    AASM_CHILD_CHECK(client.has_value(), client.error().message());
    AASM_CHILD_CHECK(!client->wait_filter_installed(kPatience).has_value(), "");
    const auto results = client->results();
    AASM_CHILD_CHECK(results.failed_step == Step::kCapabilities, "");
    const auto report = results.steps[static_cast<std::size_t>(Step::kCapabilities)];
    AASM_CHILD_CHECK(report.os_errno == EPERM && report.detail == 2, "");
    return {};
  });
}

}  // namespace
}  // namespace aasm::test
