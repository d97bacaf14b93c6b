#include <cerrno>

#include <gtest/gtest.h>

#include "file_samples.h"

// Executions (docs/decisions/0025): /usr is read and executed, /w read alone.
namespace aasm::backend_native {
namespace {

using schema::DecisionCause;
using schema::DecisionOutcome;
using schema::Domain;

FileSpec executing() {
  FileSpec spec = sample_spec();
  spec.grants.push_back(
      grant("execute[0]", Domain::kFilesystemRead, "/usr", 20, Operation::kExecute));
  return spec;
}

FileCall execution_of(ResolvedFile file) {
  return call_of(FileOperation::kExecute, std::move(file));
}

TEST(JudgeExecutionTest, WhatAGrantCoversGoesOnAndCitesTheGrantToExecute) {
  const FileVerdict verdict = judge_execution(executing(), execution_of(file_at("/usr/tool", 30)));
  EXPECT_TRUE(verdict.perform);
  EXPECT_TRUE(verdict.recorded);
  EXPECT_EQ(verdict.event.outcome, DecisionOutcome::kAllowed);
  EXPECT_EQ(verdict.event.domain, Domain::kFilesystemRead);
  EXPECT_EQ(verdict.event.operation, "execute");
  EXPECT_EQ(verdict.event.rule, "execute[0]");
  EXPECT_EQ(verdict.event.os_errno, 0);
  EXPECT_EQ(verdict.event.mechanism, "seccomp_user_notification");
}

TEST(JudgeExecutionTest, WhatNoGrantToExecuteCoversIsRefusedWhateverTheKernelWould) {
  for (const ResolvedFile& file : {file_at("/w/tool", 30), file_at("/elsewhere/tool", 30)}) {
    const FileVerdict verdict = judge_execution(executing(), execution_of(file));
    EXPECT_FALSE(verdict.perform) << file.path;
    EXPECT_EQ(verdict.event.outcome, DecisionOutcome::kDenied);
    EXPECT_EQ(verdict.event.cause, DecisionCause::kPolicy);
    EXPECT_EQ(verdict.event.rule, "filesystem.read.allow");
    EXPECT_EQ(verdict.event.os_errno, EACCES);
  }
}

TEST(JudgeExecutionTest, AFileThatMayBeExecutedAndNotReadIsNotExecuted) {
  FileSpec spec = executing();
  spec.grants.push_back(
      grant("execute[1]", Domain::kFilesystemRead, "/opt", 40, Operation::kExecute));
  EXPECT_FALSE(judge_execution(spec, execution_of(file_at("/opt/tool", 41))).perform);
}

TEST(JudgeExecutionTest, AFileWithoutAPlaceInTheTreeIsNamedAndRefused) {
  ResolvedFile memory = file_at("", 99);
  memory.given = "memfd:copy";
  const FileVerdict verdict = judge_execution(executing(), execution_of(memory));
  EXPECT_FALSE(verdict.perform);
  EXPECT_EQ(verdict.event.object.type, schema::ObjectType::kName);
  EXPECT_EQ(verdict.event.object.name, "memfd:copy");
  EXPECT_TRUE(verdict.event.object.check());
}

TEST(JudgeExecutionTest, ADirectoryThatAMountShowsElsewhereIsTheGrantedOne) {
  const ResolvedFile file = file_at("/mnt/usr/tool", 30, {id_of(20), id_of(3), id_of(2)});
  const FileVerdict verdict = judge_execution(executing(), execution_of(file));
  EXPECT_TRUE(verdict.perform);
  EXPECT_EQ(verdict.event.object.path, schema::PathBytes("/usr/tool"));
}

// A place that is denied to readers and writers is not taken out of a grant to execute (0020).
TEST(JudgeExecutionTest, DenialsOfReadingAndWritingAreNotOfExecution) {
  FileSpec spec = executing();
  spec.grants.push_back(
      grant("execute[1]", Domain::kFilesystemRead, "/w", 10, Operation::kExecute));
  EXPECT_TRUE(judge_execution(spec, execution_of(file_at("/w/hooks/x", 12))).perform);
}

TEST(JudgeExecutionTest, TheKernelsRefusalIsToldApartByTheGrants) {
  const FileSpec spec = executing();
  const FileVerdict policy = blame_refusal(spec, execution_of(file_at("/w/tool", 30)), EACCES);
  EXPECT_EQ(policy.event.cause, DecisionCause::kPolicy);
  EXPECT_EQ(policy.event.mechanism, "seccomp_user_notification");
  const FileVerdict mode = blame_refusal(spec, execution_of(file_at("/usr/tool", 30)), EACCES);
  EXPECT_EQ(mode.event.cause, DecisionCause::kHostPermission);
  EXPECT_EQ(mode.event.rule, "execute[0]");
  EXPECT_EQ(mode.event.mechanism, "seccomp_user_notification");
  EXPECT_FALSE(blame_refusal(spec, execution_of(file_at("/usr/tool", 0)), ENOENT).recorded);
  EXPECT_FALSE(blame_refusal(spec, execution_of(file_at("/usr/tool", 30)), ETXTBSY).recorded);
}

}  // namespace
}  // namespace aasm::backend_native
