#include "process_limits.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "canary.h"
#include "lowering.h"
#include "policy_builder.h"

namespace aasm::backend_native {
namespace {

using schema::Domain;
using schema::Purpose;
using ::testing::HasSubstr;

constexpr std::uint64_t kUnlimited = UINT64_MAX;

schema::PolicyRule limit(const std::string& operation, const std::string& value) {
  return testing::rule("resources." + operation, schema::RuleEffect::kAllow, operation,
                       schema::SelectorType::kLimit, value);
}
schema::Requirement resources(std::initializer_list<schema::PolicyRule> rules) {
  return testing::requirement(Domain::kResource, "resources", rules);
}
ReadLimit host(std::uint64_t soft, std::uint64_t hard) {
  return [soft, hard](std::uint32_t /*resource*/) { return InheritedLimit{soft, hard}; };
}

TEST(ProcessLimitsTest, EachKernelLimitIsSetSoftAndHardAndTheWallClockIsNone) {
  const auto limits =
      process_limits({resources({limit("cpu_seconds", "5"), limit("file_size_bytes", "4096"),
                                 limit("open_files", "64"), limit("wall_clock_seconds", "9")})},
                     host(kUnlimited, kUnlimited));
  ASSERT_EQ(limits.size(), 3U);
  EXPECT_EQ(limits[0].set.resource, static_cast<std::uint32_t>(RLIMIT_CPU));
  EXPECT_EQ(limits[1].set.resource, static_cast<std::uint32_t>(RLIMIT_FSIZE));
  EXPECT_EQ(limits[2].set.resource, static_cast<std::uint32_t>(RLIMIT_NOFILE));
  for (const ProcessLimit& one : limits) {
    EXPECT_EQ(one.set.soft, one.asked);
    EXPECT_EQ(one.set.hard, one.asked + (one.set.resource == RLIMIT_CPU ? 1 : 0));
    EXPECT_FALSE(one.host_is_stricter);
  }
  EXPECT_EQ(limit_text(limits[0]), "RLIMIT_CPU is 5") << "where SIGXCPU comes";
  EXPECT_EQ(limit_text(limits[2]), "RLIMIT_NOFILE is 64");
}

TEST(ProcessLimitsTest, AStricterHostStaysAndIsSaid) {
  const auto limits = process_limits({resources({limit("open_files", "4096")})}, host(256, 1024));
  ASSERT_EQ(limits.size(), 1U);
  EXPECT_EQ(limits[0].set.soft, 256U);
  EXPECT_EQ(limits[0].set.hard, 1024U);
  EXPECT_TRUE(limits[0].host_is_stricter);
  EXPECT_EQ(limit_text(limits[0]),
            "RLIMIT_NOFILE is 1024, the host's own; policy asks for 4096; the soft limit stays at "
            "the caller's 256");
}

TEST(ProcessLimitsTest, ASoftLimitOfTheCallerIsNotRaised) {
  const auto limits =
      process_limits({resources({limit("open_files", "512")})}, host(256, kUnlimited));
  EXPECT_EQ(limits.at(0).set.soft, 256U);
  EXPECT_EQ(limits.at(0).set.hard, 512U);
}

TEST(ProcessLimitsTest, TheWallClockIsThatOfTheRule) {
  EXPECT_FALSE(wall_clock({resources({limit("open_files", "64")})}));
  const auto clock = wall_clock({resources({limit("wall_clock_seconds", "90")})});
  ASSERT_TRUE(clock);
  EXPECT_EQ(clock->limit.count(), 90);
  EXPECT_EQ(clock->rule, "resources.wall_clock_seconds");
}

// Case 80.
TEST(ProcessLimitsTest, MemoryIsRefusedInItsOwnWordsAndTheRestIsInstallable) {
  const schema::Requirement wanted =
      resources({limit("memory_bytes", "67108864"), limit("open_files", "64")});
  const auto obstacle = limit_obstacle(wanted, [] {
    return schema::Result<MemoryPlace>(
        schema::Error(schema::ErrorCode::kUnsupported, "no groups here"));
  });
  ASSERT_TRUE(obstacle);
  EXPECT_THAT(*obstacle, HasSubstr("rule resources.memory_bytes: memory of a process tree"));
  EXPECT_THAT(*obstacle, HasSubstr("no groups here"));
  EXPECT_FALSE(
      limit_obstacle(wanted, [] { return schema::Result<MemoryPlace>(MemoryPlace{"/groups"}); }));
  planner::ExecutionSpec spec;
  spec.requirements = {resources({limit("memory_bytes", "1000"), limit("open_files", "64")})};
  EXPECT_THAT(*cannot_lower(spec.requirements[0]), HasSubstr("needs 4194304 bytes"));
  const auto installable = installable_requirements(spec);
  ASSERT_EQ(installable.size(), 1U);
  EXPECT_EQ(process_limits(installable, host(kUnlimited, kUnlimited)).size(), 1U);
  EXPECT_FALSE(memory_limit(installable)) << "too little for any program";
  EXPECT_EQ(memory_limit({wanted})->bytes, 67108864U);
  EXPECT_FALSE(cannot_lower(resources({limit("open_files", "64")})));
}

TEST(ProcessLimitsTest, WhatCannotBeCarriedOutIsNamed) {
  EXPECT_THAT(*cannot_lower(resources({limit("open_files", "15")})), HasSubstr("descriptors"));
  EXPECT_THAT(*cannot_lower(resources({limit("sockets", "15")})), HasSubstr("sockets"));
  EXPECT_THAT(*cannot_lower(resources({limit("cpu_seconds", "none")})), HasSubstr("no limit"));
}

class LimitCanariesTest : public ::testing::Test {
 protected:
  CanaryPlan plan(std::initializer_list<schema::PolicyRule> rules) {
    requirements_ = {testing::read_requirement({}), testing::write_requirement({}),
                     resources(rules)};
    limits_ = process_limits(requirements_, host(kUnlimited, kUnlimited));
    return plan_canaries(
        {requirements_, protect_, filter_, {}, false, false, ::getpid(), 9, {}, {}, limits_});
  }
  static const ScriptedCanary* find(const CanaryPlan& plan, const std::string& id) {
    for (const ScriptedCanary& scripted : plan.canaries) {
      if (scripted.canary.id == id) {
        return &scripted;
      }
    }
    return nullptr;
  }

  std::vector<schema::Requirement> requirements_;
  std::vector<ProcessLimit> limits_;
  planner::ProtectedPaths protect_{"/h", "/h/canary", {}, {}, {}};
  FilterSpec filter_;
};

TEST_F(LimitCanariesTest, SizesAndDescriptorsAreTriedAndTheRestSaysWhyNot) {
  const CanaryPlan made = plan({limit("cpu_seconds", "5"), limit("file_size_bytes", "4096"),
                                limit("open_files", "64"), limit("wall_clock_seconds", "9")});
  for (const char* id : {"resource.file_size_bytes", "resource.open_files"}) {
    ASSERT_NE(find(made, id), nullptr) << id;
    EXPECT_EQ(find(made, id)->canary.purpose, Purpose::kPolicy);
    EXPECT_EQ(find(made, id)->canary.step, "resource_limits");
    EXPECT_EQ(find(made, id)->missing_control, MissingControl::kFails);
  }
  EXPECT_EQ(find(made, "resource.cpu_seconds"), nullptr);
  // That a limit cannot be raised is no statement of the policy, so it proves none.
  EXPECT_EQ(find(made, "resource.raise_cpu_seconds")->canary.purpose, Purpose::kSelfProtection);
  std::string reasons;
  for (const schema::NoCanary& none : made.none) {
    reasons += none.domain == Domain::kResource ? none.reason + "\n" : "";
  }
  EXPECT_THAT(reasons, HasSubstr("resources.cpu_seconds: "));
  EXPECT_THAT(reasons, HasSubstr("resources.wall_clock_seconds: "));
}

TEST_F(LimitCanariesTest, ALargeTableOfDescriptorsIsNotMade) {
  EXPECT_EQ(find(plan({limit("open_files", "9000000")}), "resource.open_files"), nullptr);
}

TEST_F(LimitCanariesTest, NothingIsTriedWhereNothingIsStated) {
  const CanaryPlan made = plan({});
  EXPECT_TRUE(std::none_of(made.canaries.begin(), made.canaries.end(), [](const auto& one) {
    return one.canary.domain == Domain::kResource || one.canary.domain == Domain::kProcessCreation;
  }));
}

}  // namespace
}  // namespace aasm::backend_native
