#include <fcntl.h>

#include <cerrno>

#include <gtest/gtest.h>

#include "file_samples.h"

namespace aasm::backend_native {
namespace {

using schema::DecisionCause;
using schema::DecisionOutcome;
using schema::Domain;
using Operations = std::vector<FileOperation>;

const std::vector<FileId> kInW = {id_of(10), id_of(2)};
const std::vector<FileId> kInHooks = {id_of(11), id_of(10), id_of(2)};

constexpr FileOperation kOfContents[] = {FileOperation::kRead, FileOperation::kWrite,
                                         FileOperation::kTruncate, FileOperation::kAttributes};
constexpr FileOperation kOfNames[] = {FileOperation::kCreate,   FileOperation::kMakeDirectory,
                                      FileOperation::kMakeNode, FileOperation::kMakeSymlink,
                                      FileOperation::kRemove,   FileOperation::kRemoveDirectory};

TEST(JudgeFileTest, EveryOperationInsideADeniedPlaceIsDeniedByTheRuleOfItsDomain) {
  const FileSpec spec = sample_spec();
  for (const FileOperation operation : kOfContents) {
    const FileVerdict verdict =
        judge_file(spec, call_of(operation, file_at("/w/hooks/pre-commit", 12, kInHooks)));
    const bool reads = operation == FileOperation::kRead;
    EXPECT_FALSE(verdict.perform);
    EXPECT_TRUE(verdict.recorded);
    EXPECT_EQ(verdict.event.outcome, DecisionOutcome::kDenied);
    EXPECT_EQ(verdict.event.cause, DecisionCause::kPolicy);
    EXPECT_EQ(verdict.event.os_errno, EACCES);
    EXPECT_EQ(verdict.event.rule, reads ? "deny[0].read" : "deny[0].write");
    EXPECT_EQ(verdict.event.domain, reads ? Domain::kFilesystemRead : Domain::kFilesystemWrite);
    EXPECT_EQ(verdict.event.operation, operation_word(operation));
    EXPECT_EQ(verdict.event.object.path, schema::PathBytes("/w/hooks/pre-commit"));
    EXPECT_EQ(verdict.event.object.inode, 12U);
    EXPECT_TRUE(verdict.event.object.check());
  }
  for (const FileOperation operation : kOfNames) {
    EXPECT_FALSE(judge_file(spec, call_of(operation, file_at("/w/hooks/x", 0, kInHooks))).perform);
  }
}

TEST(JudgeFileTest, BesideADeniedPlaceEveryOperationIsPerformedAndCitesItsGrant) {
  const FileSpec spec = sample_spec();
  for (const FileOperation operation : kOfContents) {
    const FileVerdict verdict =
        judge_file(spec, call_of(operation, file_at("/w/hooks2", 13, kInW)));
    EXPECT_TRUE(verdict.perform);
    EXPECT_TRUE(verdict.recorded);
    EXPECT_EQ(verdict.event.outcome, DecisionOutcome::kAllowed);
    EXPECT_EQ(verdict.event.rule, operation == FileOperation::kRead ? "read[0]" : "write[0]");
  }
  for (const FileOperation operation : kOfNames) {
    EXPECT_TRUE(judge_file(spec, call_of(operation, file_at("/w/new", 0, kInW))).perform);
  }
}

struct TwoNames {
  const char* what;
  ResolvedFile from;
  ResolvedFile to;
  bool rename;
  bool exchange;
  bool link;
};

TEST(JudgeFileTest, RenameAndLinkAreJudgedAtBothEnds) {
  const FileSpec spec = sample_spec();
  const ResolvedFile plain = file_at("/w/t", 14, kInW);
  const ResolvedFile in_hooks = file_at("/w/hooks/pre-commit", 12, kInHooks);
  const ResolvedFile new_in_hooks = file_at("/w/hooks/new", 0, kInHooks);
  const ResolvedFile hooks = file_at("/w/hooks", 11, kInW, true);
  const ResolvedFile w = file_at("/w", 10, {id_of(2)}, true);
  const ResolvedFile later = file_at("/w/later", 0, kInW);
  const ResolvedFile other = file_at("/w/u", 15, kInW);
  const TwoNames table[] = {
      {"beside", plain, file_at("/w/v", 0, kInW), true, true, true},
      {"both there", plain, other, true, true, true},
      {"into", plain, new_in_hooks, false, false, false},
      {"onto", plain, in_hooks, false, false, false},
      {"out of", in_hooks, file_at("/w/v", 0, kInW), false, false, false},
      {"the place itself away", hooks, file_at("/w/v", 0, kInW), false, false, false},
      {"onto the place", plain, hooks, false, false, false},
      {"above it away", w, file_at("/v", 0, {id_of(2)}), false, false, true},
      {"to above one that is not there", other, later, false, false, true},
  };
  for (const TwoNames& row : table) {
    EXPECT_EQ(judge_file(spec, call_of(FileOperation::kRename, row.from, row.to)).perform,
              row.rename)
        << row.what;
    EXPECT_EQ(judge_file(spec, call_of(FileOperation::kExchange, row.from, row.to)).perform,
              row.exchange)
        << row.what;
    EXPECT_EQ(judge_file(spec, call_of(FileOperation::kLink, row.from, row.to)).perform, row.link)
        << row.what;
  }
}

TEST(JudgeFileTest, BothPathsStandInTheEventOfARename) {
  const FileVerdict verdict =
      judge_file(sample_spec(), call_of(FileOperation::kRename, file_at("/w/t", 14, kInW),
                                        file_at("/w/hooks/pre-commit", 12, kInHooks)));
  EXPECT_EQ(verdict.event.operation, "rename");
  EXPECT_EQ(verdict.event.object.path, schema::PathBytes("/w/t"));
  EXPECT_EQ(verdict.event.object.new_path, schema::PathBytes("/w/hooks/pre-commit"));
  EXPECT_EQ(verdict.event.domain, Domain::kFilesystemWrite);
  EXPECT_EQ(verdict.event.rule, "deny[0].write");
}

// Case 6.
TEST(JudgeFileTest, APlaceThatIsNotThereYetIsDeniedByItsParentAndName) {
  const FileSpec spec = sample_spec();
  const std::vector<FileId> in_later = {id_of(30), id_of(10), id_of(2)};
  // The same directory by another mount: /m/later is /w/later.
  const std::vector<FileId> through_mount = {id_of(30), id_of(10), id_of(99)};
  EXPECT_TRUE(judge_file(spec, call_of(FileOperation::kMakeDirectory, file_at("/w/later", 0, kInW)))
                  .perform);
  for (const auto& [path, parents] :
       {std::pair("/w/later/secret", in_later), std::pair("/m/later/secret", through_mount)}) {
    EXPECT_FALSE(
        judge_file(spec, call_of(FileOperation::kCreate, file_at(path, 0, parents))).perform)
        << path;
    EXPECT_FALSE(
        judge_file(spec, call_of(FileOperation::kRead, file_at(path, 31, parents))).perform)
        << path;
  }
  EXPECT_TRUE(judge_file(spec, call_of(FileOperation::kCreate,
                                       file_at("/m/later/secrets", 0, through_mount)))
                  .perform);
}

TEST(JudgeFileTest, NothingTakesThePlaceOfADirectoryAboveADeniedOne) {
  const FileSpec spec = sample_spec();
  const ResolvedFile later = file_at("/w/later", 0, kInW);
  EXPECT_FALSE(judge_file(spec, call_of(FileOperation::kMakeSymlink, later)).perform);
  EXPECT_TRUE(judge_file(spec, call_of(FileOperation::kMakeDirectory, later)).perform);
  // Made during the run it may go again; what was there at launch says where the place is.
  const ResolvedFile made = file_at("/w/later", 30, kInW, true);
  EXPECT_TRUE(judge_file(spec, call_of(FileOperation::kRemoveDirectory, made)).perform);
  const ResolvedFile w = file_at("/w", 10, {id_of(2)}, true);
  EXPECT_FALSE(judge_file(spec, call_of(FileOperation::kRemoveDirectory, w)).perform);
}

// Case 7.
TEST(JudgeFileTest, ADeniedFileIsDeniedByEveryNameItHas) {
  FileSpec spec = sample_spec();
  spec.denials = {{"deny[0]", Domain::kFilesystemRead, "/w/.env", {{id_of(40), {}}}}};
  for (const char* path : {"/w/.env", "/w/hard-link", "/m/.env", "/elsewhere"}) {
    EXPECT_FALSE(judge_file(spec, call_of(FileOperation::kRead, file_at(path, 40))).perform);
  }
  ResolvedFile removed = file_at("", 40);
  removed.given = "/proc/self/fd/3";
  const FileVerdict verdict = judge_file(spec, call_of(FileOperation::kRead, removed));
  EXPECT_FALSE(verdict.perform);
  EXPECT_EQ(verdict.event.object.name, "/proc/self/fd/3");
  EXPECT_TRUE(verdict.event.object.check());
  // Another device has the same numbers.
  ResolvedFile elsewhere = file_at("/w/x", 40);
  elsewhere.id.device = kDevice + 1;
  EXPECT_TRUE(judge_file(spec, call_of(FileOperation::kRead, elsewhere)).perform);
  // What was put there from outside since has the name alone.
  EXPECT_FALSE(judge_file(spec, call_of(FileOperation::kRead, file_at("/w/.env", 41))).perform);
}

TEST(JudgeFileTest, ADenialOfReadingAloneLeavesWritingAndDoesNotLetTheFileGoByAnotherName) {
  FileSpec spec = sample_spec();
  spec.denials = {{"deny[0]", Domain::kFilesystemRead, "/w/log", {{id_of(40), {}}}}};
  const ResolvedFile log = file_at("/w/log", 40, kInW);
  EXPECT_TRUE(judge_file(spec, call_of(FileOperation::kWrite, log)).perform);
  EXPECT_FALSE(judge_file(spec, {open_operations(O_RDWR, true), log, std::nullopt}).perform);
  const FileVerdict verdict =
      judge_file(spec, call_of(FileOperation::kLink, log, file_at("/w/v", 0, kInW)));
  EXPECT_FALSE(verdict.perform);
  EXPECT_EQ(verdict.event.domain, Domain::kFilesystemRead);
}

TEST(JudgeFileTest, AttributesOutsideTheGrantsToWriteAreDeniedHereSinceLandlockDoesNot) {
  const FileSpec spec = sample_spec();
  const FileVerdict verdict =
      judge_file(spec, call_of(FileOperation::kAttributes, file_at("/usr/x", 21, {id_of(20)})));
  EXPECT_FALSE(verdict.perform);
  EXPECT_EQ(verdict.event.rule, "filesystem.write.allow");
  EXPECT_TRUE(judge_file(spec, call_of(FileOperation::kAttributes, file_at("", 50))).perform);
  ResolvedFile missing = file_at("/usr/x", 0, {id_of(20)});
  missing.exists = false;  // the kernel says so
  EXPECT_TRUE(judge_file(spec, call_of(FileOperation::kAttributes, missing)).perform);
}

TEST(JudgeFileTest, WhatAMountShowsElsewhereIsNamedAsItsGrantNamesIt) {
  const FileSpec spec = sample_spec();
  EXPECT_TRUE(wants_parents(spec, "/w/a"));  // there are denials
  FileSpec plain = spec;
  plain.denials.clear();
  EXPECT_FALSE(wants_parents(plain, "/w/a"));
  EXPECT_TRUE(wants_parents(plain, "/m/a"));
  const FileVerdict verdict = judge_file(
      plain,
      call_of(FileOperation::kRead, file_at("/m/d/a", 16, {id_of(15), id_of(10), id_of(98)})));
  EXPECT_TRUE(verdict.recorded);
  EXPECT_EQ(verdict.event.rule, "read[0]");
  EXPECT_EQ(verdict.event.object.path, schema::PathBytes("/w/d/a"));
  EXPECT_EQ(verdict.event.object.given_path, schema::PathBytes("/m/d/a"));
}

TEST(JudgeFileTest, TheLevelSaysWhatIsRecorded) {
  const FileCall read = call_of(FileOperation::kRead, file_at("/w/a", 16, kInW));
  const FileCall write = call_of(FileOperation::kWrite, file_at("/w/a", 16, kInW));
  EXPECT_TRUE(judge_file(sample_spec(FileLevel::kDecisions), read).recorded);
  EXPECT_FALSE(judge_file(sample_spec(FileLevel::kWriteDecisions), read).recorded);
  EXPECT_TRUE(judge_file(sample_spec(FileLevel::kWriteDecisions), write).recorded);
  EXPECT_FALSE(judge_file(sample_spec(FileLevel::kSetup), write).recorded);
  // Nothing that is not known to be granted is recorded as allowed by a rule.
  EXPECT_FALSE(judge_file(sample_spec(), call_of(FileOperation::kRead, file_at("", 50))).recorded);
}

TEST(OpenOperationsTest, FollowTheFlags) {
  using F = FileOperation;
  EXPECT_EQ(open_operations(O_RDONLY, true), (Operations{F::kRead}));
  EXPECT_EQ(open_operations(O_RDONLY | O_CREAT, true), (Operations{F::kRead}));
  EXPECT_EQ(open_operations(O_RDONLY | O_CREAT, false), (Operations{F::kCreate, F::kRead}));
  EXPECT_EQ(open_operations(O_WRONLY, true), (Operations{F::kWrite}));
  EXPECT_EQ(open_operations(O_WRONLY | O_CREAT | O_TRUNC, false),
            (Operations{F::kCreate, F::kWrite}));
  EXPECT_EQ(open_operations(O_RDWR | O_TRUNC, true),
            (Operations{F::kWrite, F::kTruncate, F::kRead}));
  EXPECT_EQ(open_operations(O_RDONLY | O_TRUNC, true), (Operations{F::kTruncate, F::kRead}));
  EXPECT_EQ(open_operations(O_RDWR | O_TMPFILE, true), (Operations{F::kCreate}));
  EXPECT_EQ(open_operations(O_RDONLY | O_DIRECTORY, true), (Operations{F::kRead}));
  EXPECT_EQ(open_operations(O_PATH | O_RDWR, true), Operations{});
  EXPECT_EQ(open_operations(O_ACCMODE, true), (Operations{F::kWrite, F::kRead}));  // ioctl only
}

}  // namespace
}  // namespace aasm::backend_native
