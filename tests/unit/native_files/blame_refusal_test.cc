#include <cerrno>

#include <gtest/gtest.h>

#include "file_samples.h"

namespace aasm::backend_native {
namespace {

using schema::DecisionCause;

const std::vector<FileId> kInW = {id_of(10), id_of(2)};
const std::vector<FileId> kInUsr = {id_of(20), id_of(2)};
const std::vector<FileId> kInEtc = {id_of(60), id_of(2)};

struct Row {
  const char* what;
  FileCall call;
  int os_errno;
  bool recorded;
  DecisionCause cause;
  const char* rule;
};

TEST(BlameRefusalTest, TellsThePolicyFromTheHost) {
  using F = FileOperation;
  using C = DecisionCause;
  const FileSpec spec = sample_spec();
  const ResolvedFile in_w = file_at("/w/a", 16, kInW);
  const ResolvedFile new_in_w = file_at("/w/b", 0, kInW);
  const ResolvedFile in_usr = file_at("/usr/a", 21, kInUsr);
  const ResolvedFile in_etc = file_at("/etc/shadow", 61, kInEtc);
  const Row table[] = {
      {"read outside", call_of(F::kRead, in_etc), EACCES, true, C::kPolicy,
       "filesystem.read.allow"},
      {"read inside", call_of(F::kRead, in_usr), EACCES, true, C::kHostPermission, "read[1]"},
      {"write where reading is granted", call_of(F::kWrite, in_usr), EACCES, true, C::kPolicy,
       "filesystem.write.allow"},
      {"write inside", call_of(F::kWrite, in_w), EACCES, true, C::kHostPermission, "write[0]"},
      {"immutable", call_of(F::kRemove, in_w), EPERM, true, C::kHostPermission, "write[0]"},
      {"EPERM is never Landlock's", call_of(F::kRemove, in_usr), EPERM, true, C::kHostPermission,
       "filesystem.write.allow"},
      {"read-only mount", call_of(F::kWrite, in_w), EROFS, true, C::kHostPermission, "write[0]"},
      {"not there", call_of(F::kRead, in_etc), ENOENT, false, C::kPolicy, ""},
      {"there already", call_of(F::kCreate, in_w), EEXIST, false, C::kPolicy, ""},
      {"the grant itself is no name in itself",
       call_of(F::kRemoveDirectory, file_at("/w", 10, {id_of(2)}, true)), EACCES, true, C::kPolicy,
       "filesystem.write.allow"},
      {"renamed out", call_of(F::kRename, in_w, file_at("/usr/b", 0, kInUsr)), EXDEV, true,
       C::kPolicy, "filesystem.write.allow"},
      {"linked in from where less is granted", call_of(F::kLink, in_usr, new_in_w), EXDEV, true,
       C::kPolicy, "filesystem.write.allow"},
      {"another filesystem", call_of(F::kRename, in_w, new_in_w), EXDEV, false, C::kPolicy, ""},
      {"linked by who may not", call_of(F::kLink, in_w, new_in_w), EPERM, true, C::kHostPermission,
       "write[0]"},
      {"opened for both, one outside",
       {{F::kWrite, F::kRead}, file_at("/wo/a", 71, {id_of(70)}), std::nullopt},
       EACCES,
       true,
       C::kPolicy,
       "filesystem.read.allow"},
  };
  FileSpec with_write_only = spec;
  with_write_only.grants.push_back(
      grant("write[1]", schema::Domain::kFilesystemWrite, "/wo", 70, Operation::kWrite));
  for (const Row& row : table) {
    const FileVerdict verdict = blame_refusal(with_write_only, row.call, row.os_errno);
    EXPECT_TRUE(verdict.perform) << row.what;
    EXPECT_EQ(verdict.recorded, row.recorded) << row.what;
    if (row.recorded && verdict.recorded) {
      EXPECT_EQ(verdict.event.outcome, schema::DecisionOutcome::kDenied) << row.what;
      EXPECT_EQ(verdict.event.cause, row.cause) << row.what;
      EXPECT_EQ(verdict.event.rule, row.rule) << row.what;
      EXPECT_EQ(verdict.event.os_errno, row.os_errno) << row.what;
      EXPECT_EQ(verdict.event.mechanism, row.cause == C::kPolicy ? "landlock" : "broker")
          << row.what;
    }
  }
}

TEST(BlameRefusalTest, ADomainThatIsNotStatedIsNotBlamed) {
  FileSpec spec = sample_spec();
  spec.write_stated = false;
  EXPECT_FALSE(
      blame_refusal(spec, call_of(FileOperation::kWrite, file_at("/w/a", 16, kInW)), EACCES)
          .recorded);
}

TEST(RefuseByFaultTest, IsAWholeEventAlsoOfWhatThePolicyDoesNotState) {
  FileSpec spec = sample_spec();
  const FileCall call = call_of(FileOperation::kWrite, file_at("/w/a", 16, kInW));
  const FileVerdict stated = refuse_by_fault(spec, call, EMFILE);
  EXPECT_EQ(stated.event.domain, schema::Domain::kFilesystemWrite);
  spec.write_stated = false;
  const FileVerdict unstated = refuse_by_fault(spec, call, EMFILE);
  EXPECT_EQ(unstated.event.domain, schema::Domain::kFilesystemRead);
  for (const FileVerdict& verdict : {stated, unstated}) {
    EXPECT_FALSE(verdict.perform);
    EXPECT_TRUE(verdict.recorded);
    EXPECT_EQ(verdict.event.operation, "write");
    EXPECT_EQ(verdict.event.object.path, schema::PathBytes("/w/a"));
    EXPECT_FALSE(verdict.event.rule.empty());
    EXPECT_FALSE(verdict.event.mechanism.empty());
    EXPECT_EQ(verdict.event.outcome, schema::DecisionOutcome::kDenied);
    EXPECT_EQ(verdict.event.cause, DecisionCause::kFault);
    EXPECT_EQ(verdict.event.os_errno, EMFILE);
  }
  const FileVerdict reference = refuse_by_fault(sample_spec(), FileCall{{}, call.file, {}}, ENOSYS);
  EXPECT_EQ(reference.event.operation, "read") << "of an open with O_PATH";
}

TEST(BlameRefusalTest, AGrantElsewhereByAnotherMountIsAGrant) {
  FileSpec spec = sample_spec();
  const FileCall call = call_of(FileOperation::kWrite, file_at("/m/a", 16, {id_of(10), id_of(99)}));
  EXPECT_EQ(blame_refusal(spec, call, EACCES).event.cause, DecisionCause::kHostPermission);
}

}  // namespace
}  // namespace aasm::backend_native
