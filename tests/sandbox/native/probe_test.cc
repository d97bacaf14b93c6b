#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aasm/backends/native.h"
#include "aasm/schema/json_parse.h"
#include "aasm/schema/json_write.h"

#include "confined_run.h"

namespace aasm::backend_native::testing {
namespace {

using schema::Domain;
using schema::PrerequisiteStatus;
using schema::Support;

// Probes in a child, which becomes nobody when asked to, and brings the record over as text.
schema::CapabilityProbed probe(const Layout& layout, As as, const std::string& helper) {
  const std::string answer = layout.path("answer");
  const pid_t pid = ::fork();
  if (pid == 0) {
    if (as == As::kNobody && ::geteuid() == 0) {
      become_nobody();
    }
    planner::ProbeRequest request;
    request.helper_path = std::string(AASM_BINARY_DIR) + "/bin/" + helper;
    request.scratch_dir = layout.path("home");
    const auto probed = make_native_backend()->probe(request);
    std::ofstream(answer) << (probed ? schema::json_write(schema::write_body(*probed))
                                     : probed.error().message());
    ::_exit(0);
  }
  ::waitpid(pid, nullptr, 0);
  std::ostringstream text;
  text << std::ifstream(answer).rdbuf();
  const auto json = schema::json_parse(text.str());
  EXPECT_TRUE(json.has_value()) << text.str();
  if (!json) {
    return {};
  }
  const auto body = schema::read_body("capability.probed", *json);
  EXPECT_TRUE(body.has_value()) << (body ? "" : body.error().message()) << text.str();
  return body && *body ? std::get<schema::CapabilityProbed>(**body) : schema::CapabilityProbed();
}

class ProbeTest : public ::testing::TestWithParam<As> {
 protected:
  Layout layout_{GetParam()};
};

TEST_P(ProbeTest, SatisfiesASupportedDomainOnlyByDenialsThatWereWatched) {
  const schema::CapabilityProbed probed = probe(layout_, GetParam(), "aasm-launch-helper");
  ASSERT_TRUE(probed.available) << probed.unavailable_reason;
  EXPECT_EQ(probed.domains.size(), 9U);
  for (const Domain domain :
       {Domain::kFilesystemRead, Domain::kFilesystemWrite, Domain::kNetworkEgress,
        Domain::kNameResolution, Domain::kSyscall, Domain::kProcessCreation, Domain::kIpc,
        Domain::kCredential, Domain::kResource}) {
    const schema::DomainCapability* capability = probed.find(domain);
    ASSERT_NE(capability, nullptr);
    EXPECT_TRUE(capability->can_prevent()) << schema::token(domain);
    EXPECT_EQ(capability->descendants, schema::DescendantCoverage::kProcessTree);
    ASSERT_FALSE(capability->attempts.empty());
    for (const schema::ProbeAttempt& attempt : capability->attempts) {
      EXPECT_EQ(attempt.control.outcome, schema::AttemptOutcome::kSucceeded) << attempt.action;
      EXPECT_EQ(attempt.inside.outcome, schema::AttemptOutcome::kRefused) << attempt.action;
    }
  }
  EXPECT_EQ(probed.find(Domain::kSyscall)->channel.mechanism, "seccomp_user_notification");
  EXPECT_EQ(probed.find(Domain::kNetworkEgress)->channel.mechanism, "seccomp_user_notification");
  EXPECT_EQ(probed.find(Domain::kProcessCreation)->channel.mechanism, "seccomp_user_notification");
  EXPECT_EQ(probed.find(Domain::kIpc)->channel.mechanism, "seccomp_user_notification");
  EXPECT_EQ(probed.find(Domain::kFilesystemRead)->channel.mechanism, "seccomp_user_notification");
  EXPECT_EQ(probed.find(Domain::kFilesystemWrite)->channel.mechanism, "seccomp_user_notification");
  EXPECT_EQ(probed.find(Domain::kResource)->channel.mechanism, "none");
}

TEST_P(ProbeTest, WithoutLandlockTheFilesystemIsUnsupportedAndNothingIsSafe) {
  const schema::CapabilityProbed probed =
      probe(layout_, GetParam(), "aasm-launch-helper-no-landlock");
  EXPECT_FALSE(probed.available);
  EXPECT_THAT(probed.unavailable_reason, ::testing::HasSubstr("signal scope (Landlock ABI 6"));
  for (const Domain domain : {Domain::kFilesystemRead, Domain::kFilesystemWrite}) {
    ASSERT_NE(probed.find(domain), nullptr);
    EXPECT_EQ(probed.find(domain)->support, Support::kUnsupported);
    EXPECT_EQ(probed.find(domain)->prerequisites[0].status, PrerequisiteStatus::kUnsatisfied);
  }
  // The signal went through too, so not even the filter can be relied on.
  EXPECT_FALSE(probed.find(Domain::kSyscall)->can_prevent());
}

TEST_P(ProbeTest, WithoutAFilterNothingIsAvailable) {
  const schema::CapabilityProbed probed =
      probe(layout_, GetParam(), "aasm-launch-helper-no-seccomp");
  EXPECT_FALSE(probed.available);
  EXPECT_FALSE(probed.unavailable_reason.empty());
}

TEST_P(ProbeTest, OpenDescriptorsMakeCredentialUnsupported) {
  const schema::CapabilityProbed probed =
      probe(layout_, GetParam(), "aasm-launch-helper-no-descriptors");
  ASSERT_TRUE(probed.available) << probed.unavailable_reason;
  EXPECT_EQ(probed.find(Domain::kCredential)->support, Support::kUnsupported);
  EXPECT_TRUE(probed.find(Domain::kFilesystemRead)->can_prevent());
}

TEST_P(ProbeTest, LeavesNothingInTheScratchDirectory) {
  probe(layout_, GetParam(), "aasm-launch-helper");
  EXPECT_FALSE(std::filesystem::exists(layout_.path("home/probe")));
}

TEST_P(ProbeTest, AMissingHelperIsAnErrorAndNoCapability) {
  planner::ProbeRequest request;
  request.helper_path = layout_.path("no-helper");
  request.scratch_dir = layout_.path("home");
  const auto probed = make_native_backend()->probe(request);
  ASSERT_FALSE(probed);
  EXPECT_EQ(probed.error().os_errno(), ENOENT);
}

INSTANTIATE_TEST_SUITE_P(Users, ProbeTest, ::testing::Values(As::kSelf, As::kNobody), name_of_user);

}  // namespace
}  // namespace aasm::backend_native::testing
