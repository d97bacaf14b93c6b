#include "aasm/planner/environment.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace aasm::planner {
namespace {

using Names = std::vector<std::string>;

struct KindRow {
  const char* name;
  std::optional<SensitiveKind> kind;
};

TEST(EnvironmentTest, NamesAreToldApartByTheFirstTestThatMatches) {
  const std::vector<KindRow> rows = {
      {"AWS_CONTAINER_CREDENTIALS_FULL_URI", SensitiveKind::kMetadataEndpoint},
      {"SSH_AUTH_SOCK", SensitiveKind::kAuthAgent},
      {"ssh_auth_sock", SensitiveKind::kAuthAgent},
      {"DOCKER_HOST", SensitiveKind::kAuthAgent},
      {"AA_API_KEY", SensitiveKind::kSupervisorCredential},
      {"AASM_SIGNING_SECRET", SensitiveKind::kSupervisorCredential},
      {"AGENT_ASSEMBLY_TOKEN", SensitiveKind::kSupervisorCredential},
      {"AWS_SECRET_ACCESS_KEY", SensitiveKind::kCloudCredential},
      {"KUBECONFIG", SensitiveKind::kCloudCredential},
      {"DATABASE_URL", SensitiveKind::kConnectionString},
      {"GITHUB_TOKEN", SensitiveKind::kServiceToken},
      {"MY_PASSWORD", SensitiveKind::kServiceToken},
      {"AA_AGENT_ID", std::nullopt},
      {"AWS_REGION", std::nullopt},
      {"PATH", std::nullopt},
      {"HOME", std::nullopt},
      {"", std::nullopt},
  };
  for (const KindRow& row : rows) {
    EXPECT_EQ(sensitive_kind(row.name), row.kind) << row.name;
  }
}

TEST(EnvironmentTest, OnlyNamedVariablesPassAndTheRestIsListedAsRemoved) {
  CredentialGrants grants;
  grants.environment = Names{"PATH", "LANG", "GITHUB_TOKEN"};
  const EnvironmentPlan plan = plan_environment(
      {"PATH=/bin", "SECRET_KEY=x", "GITHUB_TOKEN=t", "EDITOR=vi", "PATHX=1"}, grants);
  EXPECT_EQ(plan.environment, (Names{"PATH=/bin", "GITHUB_TOKEN=t"}));
  EXPECT_EQ(plan.posture.delegated, (Names{"GITHUB_TOKEN", "PATH"}));
  EXPECT_EQ(plan.posture.removed, (Names{"EDITOR", "PATHX", "SECRET_KEY"}));
  EXPECT_TRUE(plan.posture.ambient_unremoved.empty());
}

TEST(EnvironmentTest, AnEmptyListPassesNothing) {
  CredentialGrants grants;
  grants.environment = Names{};
  const EnvironmentPlan plan = plan_environment({"PATH=/bin"}, grants);
  EXPECT_TRUE(plan.environment.empty());
  EXPECT_EQ(plan.posture.removed, Names{"PATH"});
}

TEST(EnvironmentTest, WithoutAStatementTheEnvironmentPassesWholeAndCredentialsAreNamed) {
  const Names environment = {"PATH=/bin", "GITHUB_TOKEN=t", "SSH_AUTH_SOCK=/s", "odd", "=x"};
  const EnvironmentPlan plan = plan_environment(environment, {});
  EXPECT_EQ(plan.environment, environment);
  EXPECT_EQ(plan.posture.ambient_unremoved, (Names{"GITHUB_TOKEN", "SSH_AUTH_SOCK"}));
  EXPECT_TRUE(plan.posture.removed.empty());
  EXPECT_TRUE(plan.posture.delegated.empty());
}

TEST(EnvironmentTest, SupervisorCredentialsAreKeptBackEvenWhenNamed) {
  CredentialGrants grants;
  grants.environment = Names{"AASM_API_KEY"};
  const EnvironmentPlan plan = plan_environment({"AASM_API_KEY=k"}, grants);
  EXPECT_TRUE(plan.environment.empty());
  EXPECT_EQ(plan.posture.removed, Names{"AASM_API_KEY"});
}

TEST(EnvironmentTest, ANamedVariableThatIsNotThereIsNotClaimed) {
  CredentialGrants grants;
  grants.environment = Names{"LANG"};
  const EnvironmentPlan plan = plan_environment({}, grants);
  EXPECT_TRUE(plan.posture.delegated.empty());
}

TEST(EnvironmentTest, NoNameIsBothRemovedAndDelegated) {
  CredentialGrants grants;
  grants.environment = Names{"A"};
  const EnvironmentPlan plan = plan_environment({"A=1", "A", "A=2"}, grants);
  EXPECT_EQ(plan.environment, (Names{"A=1", "A=2"}));
  EXPECT_EQ(plan.posture.delegated, Names{"A"});
  EXPECT_TRUE(plan.posture.removed.empty());
}

TEST(EnvironmentTest, NamesOfForeignBytesAreRecordedEscapedAndTheirValuesNever) {
  CredentialGrants grants;
  grants.environment = Names{};
  const EnvironmentPlan plan = plan_environment({"\xFF\xFE=value"}, grants);
  EXPECT_EQ(plan.posture.removed, Names{"\\xff\\xfe"});
}

TEST(EnvironmentTest, DescriptorsAreTheStatedOnesElseTheThreeStandardOnes) {
  EXPECT_EQ(plan_environment({}, {}).descriptors, (std::vector<int>{0, 1, 2}));
  CredentialGrants grants;
  grants.descriptors = std::vector<int>{5, 0, 5};
  EXPECT_EQ(plan_environment({}, grants).descriptors, (std::vector<int>{0, 5}));
  grants.descriptors = std::vector<int>{};
  EXPECT_TRUE(plan_environment({}, grants).descriptors.empty());
}

}  // namespace
}  // namespace aasm::planner
