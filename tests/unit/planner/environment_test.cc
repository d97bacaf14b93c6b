#include "aasm/planner/environment.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "aasm/schema/json_write.h"

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
      {"AWS_SESSION_EXPIRATION", SensitiveKind::kCloudCredential},
      {"AWS_PROFILE", SensitiveKind::kCloudCredential},
      {"GOOGLE_APPLICATION_CREDENTIALS", SensitiveKind::kCloudCredential},
      {"DBUS_SYSTEM_BUS_ADDRESS", SensitiveKind::kAuthAgent},
      {"DOCKER_CONFIG", SensitiveKind::kCredentialFile},
      {"XAUTHORITY", SensitiveKind::kCredentialFile},
      {"NETRC", SensitiveKind::kCredentialFile},
      {"KRB5CCNAME", SensitiveKind::kCredentialFile},
      {"HTTPS_PROXY", SensitiveKind::kConnectionString},
      {"https_proxy", SensitiveKind::kConnectionString},
      {"NO_PROXY", std::nullopt},
      {"MYSQL_PWD", SensitiveKind::kServiceToken},
      {"PWD", std::nullopt},
      {"OLDPWD", std::nullopt},
      {"OPENAI_API_KEY", SensitiveKind::kServiceToken},
      {"GITHUB_PAT", SensitiveKind::kServiceToken},
      {"SIGNING_PRIVATE_PEM", SensitiveKind::kServiceToken},
      {"AWS_DEFAULT_REGION", std::nullopt},
      {"AWS_CA_BUNDLE", std::nullopt},
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

TEST(EnvironmentTest, TheInventoryCountsAllNamesAndListsThoseThatLookLikeCredentials) {
  CredentialGrants grants;
  grants.environment = Names{"PATH", "GITHUB_TOKEN"};
  const EnvironmentPlan plan =
      plan_environment({"PATH=/bin", "GITHUB_TOKEN=t", "EDITOR=vi", "AWS_SECRET_ACCESS_KEY=x",
                        "AA_API_KEY=k", "AA_API_KEY=l"},
                       grants);
  EXPECT_EQ(plan.ambient.removed, 3);
  EXPECT_EQ(plan.ambient.delegated, 2);
  EXPECT_EQ(plan.ambient.ambient_unremoved, 0);
  using schema::AuthorityFate;
  const std::vector<schema::SensitiveName> expected = {
      {"AA_API_KEY", SensitiveKind::kSupervisorCredential, AuthorityFate::kRemoved},
      {"AWS_SECRET_ACCESS_KEY", SensitiveKind::kCloudCredential, AuthorityFate::kRemoved},
      {"GITHUB_TOKEN", SensitiveKind::kServiceToken, AuthorityFate::kDelegated}};
  EXPECT_EQ(plan.ambient.sensitive, expected);
  EXPECT_TRUE(plan.ambient.check());
}

TEST(EnvironmentTest, WithoutAStatementEveryNameIsCountedAsUnremoved) {
  const EnvironmentPlan plan = plan_environment({"PATH=/bin", "NPM_TOKEN=t"}, {});
  EXPECT_EQ(plan.ambient.ambient_unremoved, 2);
  ASSERT_EQ(plan.ambient.sensitive.size(), 1U);
  EXPECT_EQ(plan.ambient.sensitive[0].fate, schema::AuthorityFate::kAmbientUnremoved);
}

// What a record has no room for is counted, and never said to be all.
TEST(EnvironmentTest, AnEnvironmentOfAnySizeFitsIntoARecordAndSaysWhatIsLeftOut) {
  Names environment;
  for (int i = 0; i < 5000; ++i) {
    environment.push_back("V" + std::to_string(i) + "_SECRET_\x01\x02\x03=v");
  }
  environment.push_back("LONG_TOKEN_" + std::string(4000, 'x') + "=v");
  CredentialGrants grants;
  grants.environment = Names{};
  const EnvironmentPlan plan = plan_environment(environment, grants);
  EXPECT_EQ(plan.ambient.removed, 5001);
  EXPECT_EQ(plan.posture.removed.size(), 5001U);  // all, in as many controls as they take
  EXPECT_EQ(
      plan.ambient.sensitive_unlisted + static_cast<std::int64_t>(plan.ambient.sensitive.size()),
      5001);
  EXPECT_LT(schema::json_write(schema::write_fields(plan.ambient)).size(), 30000U);
  EXPECT_EQ(plan.posture.removed.front(),
            "LONG_TOKEN_" + std::string(245, 'x') + "... (a name of 4011 bytes)");
}

TEST(EnvironmentTest, ADescriptorIsDelegatedOnlyWhenItIsPassedOn) {
  using schema::AuthorityFate;
  using schema::DescriptorKind;
  const std::vector<schema::InheritedDescriptor> inherited = {
      {0, DescriptorKind::kTerminal, true, AuthorityFate::kAmbientUnremoved},
      {5, DescriptorKind::kSocket, true, AuthorityFate::kAmbientUnremoved},
      {9, DescriptorKind::kPipe, true, AuthorityFate::kRemoved}};
  const auto fates = [&](bool closes_others) {
    schema::AmbientAuthority ambient;
    list_descriptors(inherited, {0, 1, 2}, closes_others, ambient);
    std::vector<AuthorityFate> list;
    for (const auto& one : ambient.descriptors) {
      list.push_back(one.fate);
    }
    return list;
  };
  using F = AuthorityFate;
  EXPECT_EQ(fates(true), (std::vector<F>{F::kDelegated, F::kRemoved, F::kRemoved}));
  EXPECT_EQ(fates(false), (std::vector<F>{F::kDelegated, F::kAmbientUnremoved, F::kRemoved}));
}

TEST(EnvironmentTest, DescriptorsPastTheRoomOfARecordAreCounted) {
  std::vector<schema::InheritedDescriptor> inherited;
  for (int i = 0; i < 1000; ++i) {
    inherited.push_back(
        {i, schema::DescriptorKind::kFile, false, schema::AuthorityFate::kAmbientUnremoved});
  }
  schema::AmbientAuthority ambient;
  list_descriptors(inherited, {}, true, ambient);
  EXPECT_EQ(ambient.descriptors.size(), 200U);
  EXPECT_EQ(ambient.descriptors_unlisted, 800);
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
