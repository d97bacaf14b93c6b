#include <string>

#include <gtest/gtest.h>

#include "aasm/planner/policy_resolve.h"

#include "planner_support.h"

// A policy as a run resolves it; what a deny inside a grant takes is added there.
namespace aasm::planner {
namespace {

using schema::Domain;
using schema::EvidenceWish;

ResolvedPolicy resolved(const std::string& text) {
  PolicyRequest request;
  request.sources.option = "/p.yaml";
  request.reader = [text](const std::string&,
                          std::size_t) -> schema::Result<std::optional<std::string>> {
    return std::optional(text);
  };
  request.hash = testing::fake_hash;
  request.resolver = testing::FakeHost().resolver();
  return resolve_policy(request);
}

EvidenceWish evidence(const ResolvedPolicy& policy, Domain domain) {
  return policy.record.requirement_for(domain)->evidence;
}

std::string gap_of(const ResolvedPolicy& policy, Domain domain) {
  for (const schema::PolicyGap& gap : policy.record.gaps) {
    if (gap.domain == domain && gap.reason.find("decided by itself") != std::string::npos) {
      return gap.node + ": " + gap.reason;
    }
  }
  return "";
}

TEST(ImpliedEvidenceTest, ADenyInsideAGrantTakesTheEvidenceThatKeepsIt) {
  const ResolvedPolicy policy =
      resolved("filesystem: {read: {allow: [/w]}, write: {allow: [/w]}, deny: [/w/.git]}\n");
  EXPECT_EQ(evidence(policy, Domain::kFilesystemRead), EvidenceWish::kDecisions);
  EXPECT_EQ(evidence(policy, Domain::kFilesystemWrite), EvidenceWish::kWriteDecisions);
  EXPECT_EQ(gap_of(policy, Domain::kFilesystemRead),
            "filesystem.deny[0]: lies inside a grant, so every opening of a file is decided by "
            "itself: evidence decisions where the policy wishes for setup");
  EXPECT_NE(gap_of(policy, Domain::kFilesystemWrite), "");
}

TEST(ImpliedEvidenceTest, OfTheOtherDomainNothingIsChanged) {
  const ResolvedPolicy policy =
      resolved("filesystem: {read: {allow: [/w]}, write: {allow: [/w], deny: [/w/.git]}}\n");
  EXPECT_EQ(evidence(policy, Domain::kFilesystemRead), EvidenceWish::kSetup);
  EXPECT_EQ(evidence(policy, Domain::kFilesystemWrite), EvidenceWish::kWriteDecisions);
  EXPECT_EQ(gap_of(policy, Domain::kFilesystemRead), "");
}

TEST(ImpliedEvidenceTest, AGrantToWriteThatHasProcessesInItTakesDecisions) {
  for (const char* path : {"/proc", "/", "/proc/sys"}) {
    const ResolvedPolicy policy =
        resolved("filesystem: {write: {allow: [/w, " + std::string(path) + "]}}\n");
    EXPECT_EQ(evidence(policy, Domain::kFilesystemWrite), EvidenceWish::kWriteDecisions) << path;
    EXPECT_EQ(
        gap_of(policy, Domain::kFilesystemWrite),
        "filesystem.write.allow[1]: has aasm's own processes in it, so every change of a file "
        "is decided by itself: evidence write-decisions where the policy wishes for setup");
  }
  const ResolvedPolicy beside =
      resolved("filesystem: {read: {allow: [/proc]}, write: {allow: [/w, /process]}}\n");
  EXPECT_EQ(evidence(beside, Domain::kFilesystemWrite), EvidenceWish::kSetup);
  EXPECT_EQ(evidence(beside, Domain::kFilesystemRead), EvidenceWish::kSetup);
}

TEST(ImpliedEvidenceTest, WhatIsWishedForAnywayIsNotSaidAgain) {
  const ResolvedPolicy policy = resolved(
      "filesystem: {read: {allow: [/w]}, write: {allow: [/w]}, deny: [/w/.git]}\n"
      "evidence: {filesystem: decisions}\n");
  EXPECT_EQ(evidence(policy, Domain::kFilesystemWrite), EvidenceWish::kDecisions);
  EXPECT_EQ(gap_of(policy, Domain::kFilesystemWrite), "");
}

TEST(ImpliedEvidenceTest, ADenyOutsideTheGrantsTakesNone) {
  const ResolvedPolicy policy =
      resolved("filesystem: {read: {allow: [/w]}, write: {allow: [/w]}, deny: [/srv]}\n");
  EXPECT_EQ(evidence(policy, Domain::kFilesystemRead), EvidenceWish::kSetup);
}

}  // namespace
}  // namespace aasm::planner
