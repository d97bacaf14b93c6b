#include "aasm/schema/policy_parts.h"

#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "aasm/schema/json_write.h"
#include "aasm/schema/list_pieces.h"

namespace aasm::schema {
namespace {

// What docs/spec/ledger-format.md section 3 leaves a body.
constexpr std::size_t kBodyBytes = std::size_t{48} * 1024;
constexpr std::size_t kBodyMembers = 4000;

PolicyRule path_rule(const std::string& list, std::size_t index, const std::string& path) {
  PolicyRule rule;
  rule.id = list + "[" + std::to_string(index) + "]";
  rule.operation = "read";
  rule.selector = {SelectorType::kPathPrefix, PathBytes(path + std::to_string(index))};
  rule.line = static_cast<std::int64_t>(index + 1);
  rule.column = 9;
  return rule;
}

PolicyResolved policy_of(std::size_t reads, std::size_t writes, std::size_t gaps,
                         const std::string& path = "/srv/work/some/folder/") {
  PolicyResolved policy;
  policy.state = PolicyState::kEnforced;
  policy.source_kind = "option";
  policy.source = PathBytes("/p.yaml");
  policy.document = Sha256{};
  for (const auto& [domain, count] :
       {std::pair(Domain::kFilesystemRead, reads), std::pair(Domain::kFilesystemWrite, writes)}) {
    Requirement requirement;
    requirement.domain = domain;
    requirement.default_rule = "filesystem.allow";
    for (std::size_t i = 0; i < count; ++i) {
      requirement.rules.push_back(path_rule("filesystem.allow", i, path));
    }
    policy.requirements.push_back(std::move(requirement));
  }
  for (std::size_t i = 0; i < gaps; ++i) {
    policy.gaps.push_back({Domain::kFilesystemRead, "filesystem.read.allow", "is not there"});
    policy.unmapped.push_back({std::nullopt, "tools", std::to_string(i)});
  }
  return policy;
}

std::string text_of(const PolicyResolved& policy) {
  return json_write(write_fields(policy));
}

PolicyResolved join(const std::vector<PolicyResolved>& parts) {
  PolicyResolved all = parts.front();
  for (std::size_t i = 1; i < parts.size(); ++i) {
    EXPECT_TRUE(is_next_part(all, parts[i])) << i;
    join_part(all, parts[i]);
  }
  EXPECT_TRUE(has_all_parts(all));
  all.part.reset();
  all.parts.reset();
  return all;
}

TEST(PolicyPartsTest, APolicyOfOneRecordIsRecordedAsItAlwaysWas) {
  const PolicyResolved policy = policy_of(20, 20, 5);
  const std::vector<PolicyResolved> parts = split_policy(policy);
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_EQ(text_of(parts[0]), text_of(policy));
  EXPECT_EQ(text_of(policy).find("\"part"), std::string::npos);
}

TEST(PolicyPartsTest, ALongPolicyComesInPartsThatFitARecordAndSayTheSameTogether) {
  const std::string odd = "/\x01\xff\"\\";
  for (const PolicyResolved& policy :
       {policy_of(1000, 1000, 0), policy_of(0, 1000, 40), policy_of(3, 0, 900),
        policy_of(400, 1, 1, odd), policy_of(60, 0, 0, "/" + std::string(4000, '\x01')),
        policy_of(kMaxPolicyItems - 2000, 0, 1000)}) {
    ASSERT_EQ(why_unrecordable(policy), std::nullopt);
    const std::vector<PolicyResolved> parts = split_policy(policy);
    ASSERT_GT(parts.size(), 1U);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const JsonValue body = write_fields(parts[i]);
      EXPECT_LE(json_write(body).size(), kBodyBytes);
      EXPECT_LE(num_members(body), kBodyMembers);
      EXPECT_EQ(parts[i].part, static_cast<std::int64_t>(i + 1));
      EXPECT_EQ(parts[i].parts, static_cast<std::int64_t>(parts.size()));
      ASSERT_TRUE(read_fields<PolicyResolved>(body))
          << read_fields<PolicyResolved>(body).error().message();
    }
    EXPECT_EQ(text_of(join(parts)), text_of(policy));
  }
}

TEST(PolicyPartsTest, WhatNoNumberOfRecordsHoldsIsSaid) {
  EXPECT_EQ(why_unrecordable(policy_of(kMaxPolicyItems, 0, 0)), std::nullopt);
  const std::string many = why_unrecordable(policy_of(kMaxPolicyItems, 1, 0)).value_or("");
  EXPECT_NE(many.find("comes to 4097 rules and gaps"), std::string::npos) << many;
  EXPECT_NE(many.find("room for 4096"), std::string::npos) << many;
  PolicyResolved policy = policy_of(1, 1, 0);
  policy.source = PathBytes(std::string(30000, 'p'));
  EXPECT_NE(why_unrecordable(policy).value_or("").find("shorter names"), std::string::npos);
  policy = policy_of(1, 1, 0);
  policy.unmapped.push_back({std::nullopt, std::string(40000, 'n'), "is unmapped"});
  EXPECT_NE(why_unrecordable(policy).value_or("").find("holds a statement"), std::string::npos);
}

TEST(PolicyPartsTest, OnlyTheNextPartOfTheSamePolicyGoesOn) {
  struct Row {
    const char* why;
    std::function<void(PolicyResolved&)> change;
  };
  const std::vector<PolicyResolved> parts = split_policy(policy_of(600, 600, 0));
  ASSERT_GE(parts.size(), 4U);
  PolicyResolved two = parts[0];
  join_part(two, parts[1]);
  ASSERT_TRUE(is_next_part(two, parts[2]));
  const std::vector<Row> rows = {
      {"an earlier part", [](PolicyResolved& one) { one.part = 2; }},
      {"a later part", [](PolicyResolved& one) { one.part = 4; }},
      {"of another number", [](PolicyResolved& one) { one.parts = *one.parts + 1; }},
      {"of no number",
       [](PolicyResolved& one) {
         one.part.reset();
         one.parts.reset();
       }},
      {"another state", [](PolicyResolved& one) { one.state = PolicyState::kPermissive; }},
      {"another source", [](PolicyResolved& one) { one.source = PathBytes("/q.yaml"); }},
      {"another kind of source", [](PolicyResolved& one) { one.source_kind = "home"; }},
      {"no document", [](PolicyResolved& one) { one.document.reset(); }},
      {"a blob", [](PolicyResolved& one) { one.blob = Sha256{}; }},
      {"a scope", [](PolicyResolved& one) { one.scope = PolicyScope::kOrg; }},
      {"other documents", [](PolicyResolved& one) { one.extends.emplace(); }},
      {"another answer to a denial", [](PolicyResolved& one) { one.on_denial = "kill"; }},
      {"an error", [](PolicyResolved& one) { one.error = "no"; }},
      {"another posture of the requirement that goes on",
       [](PolicyResolved& one) {
         one.requirements.front().posture = RequirementPosture::kOptional;
       }},
      {"a requirement that had ended",
       [](PolicyResolved& one) {
         one.requirements.insert(one.requirements.begin(), one.requirements.front());
         one.requirements.front().domain = Domain::kIpc;
       }},
  };
  for (const Row& row : rows) {
    PolicyResolved next = parts[2];
    row.change(next);
    EXPECT_FALSE(is_next_part(two, next)) << row.why;
  }
  EXPECT_FALSE(is_next_part(policy_of(1, 1, 0), policy_of(1, 1, 0)));
}

TEST(PolicyPartsTest, APartHasANumberOfANumber) {
  PolicyResolved policy = policy_of(1, 1, 0);
  const auto accepted = [&](std::optional<std::int64_t> part, std::optional<std::int64_t> parts) {
    policy.part = part;
    policy.parts = parts;
    return static_cast<bool>(policy.check());
  };
  EXPECT_TRUE(accepted(std::nullopt, std::nullopt));
  EXPECT_TRUE(accepted(1, 2));
  EXPECT_TRUE(accepted(2, 2));
  EXPECT_FALSE(accepted(1, 1));
  EXPECT_FALSE(accepted(3, 2));
  EXPECT_FALSE(accepted(0, 2));
  EXPECT_FALSE(accepted(1, std::nullopt));
  EXPECT_FALSE(accepted(std::nullopt, 2));
}

}  // namespace
}  // namespace aasm::schema
