#include <fcntl.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>

#include <array>
#include <cerrno>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "bpf.h"
#include "bpf_eval.h"
#include "classify.h"
#include "file_attributes.h"
#include "file_calls.h"
#include "file_request.h"
#include "filter_policy.h"

// The calls on names in the filesystem, at each level of evidence.
namespace aasm::backend_native {
namespace {

FilterSpec at_level(FileLevel level) {
  FilterSpec spec = unstated_spec();
  spec.files.level = level;
  return spec;
}

bool runs(const FilterSpec& spec, const seccomp_data& call) {
  return evaluate_filter(build_filter(spec), call).value() == SECCOMP_RET_ALLOW;
}

const std::array<int, 12> kReading = {O_RDONLY,
                                      O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW,
                                      O_RDONLY | O_DIRECTORY,
                                      O_PATH,
                                      O_PATH | O_DIRECTORY | O_NOFOLLOW,
                                      O_PATH | O_CREAT | O_TRUNC | O_RDWR,
                                      O_RDONLY | O_NOATIME,
                                      O_RDONLY | O_APPEND,
                                      O_RDONLY | O_SYNC,
                                      O_RDONLY | O_NOCTTY,
                                      O_RDONLY | O_DIRECT,
                                      O_RDONLY | O_EXCL};
const std::array<int, 7> kWriting = {O_WRONLY,
                                     O_RDWR,
                                     O_ACCMODE,
                                     O_RDONLY | O_CREAT,
                                     O_RDONLY | O_TRUNC,
                                     O_TMPFILE | O_RDWR,
                                     O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC};

seccomp_data open_call(int flags) {
  return native_call(SYS_openat, {0, 0x1000, static_cast<unsigned>(flags)});
}

TEST(FileFilterTest, WithoutALevelNothingIsNotified) {
  const FilterSpec spec = at_level(FileLevel::kSetup);
  for (const std::int32_t number : file_calls()) {
    EXPECT_TRUE(runs(spec, native_call(number))) << number;
  }
}

TEST(FileFilterTest, OpensAreNotifiedByTheirFlags) {
  const FilterSpec writes = at_level(FileLevel::kWriteDecisions);
  const FilterSpec all = at_level(FileLevel::kDecisions);
  for (const int flags : kReading) {
    EXPECT_TRUE(runs(writes, open_call(flags))) << flags;
    EXPECT_EQ(runs(all, open_call(flags)), (flags & O_PATH) != 0) << flags;
  }
  for (const int flags : kWriting) {
    EXPECT_FALSE(runs(writes, open_call(flags))) << flags;
    EXPECT_FALSE(runs(all, open_call(flags))) << flags;
  }
#if defined(SYS_open)
  EXPECT_TRUE(runs(writes, native_call(SYS_open, {0x1000, O_RDONLY, O_WRONLY})));
  EXPECT_FALSE(runs(writes, native_call(SYS_open, {0x1000, O_WRONLY, 0})));
#endif
}

TEST(FileFilterTest, TheUpperHalfOfFlagsMeansNothingAsToTheKernel) {
  const FilterSpec spec = at_level(FileLevel::kWriteDecisions);
  EXPECT_TRUE(runs(spec, native_call(SYS_openat, {0, 0, (1ULL << 32U) | (1ULL << 33U)})));
  EXPECT_FALSE(runs(spec, native_call(SYS_openat, {0, 0, (1ULL << 53U) | O_WRONLY})));
}

TEST(FileFilterTest, EveryOtherCallIsNotifiedAndBrokered) {
  for (const FileLevel level : {FileLevel::kWriteDecisions, FileLevel::kDecisions}) {
    const FilterSpec spec = at_level(level);
    for (const std::int32_t number : file_calls()) {
      const std::uint64_t request = number == SYS_ioctl ? kIoctlSetFlags : O_RDWR;
      const seccomp_data call = native_call(number, {0, request, O_RDWR});
      EXPECT_FALSE(runs(spec, call)) << number;
      EXPECT_EQ(classify({call, 1, 1}, spec).answer, AnswerKind::kBroker) << number;
      EXPECT_TRUE(read_file_request(call).has_value()) << number;
    }
  }
}

TEST(FileFilterTest, OfControlsThoseThatChangeAttributesAreBrokered) {
  const FilterSpec spec = at_level(FileLevel::kWriteDecisions);
  constexpr std::uint64_t kGetFlags = 0x80086601;  // FS_IOC_GETFLAGS
  constexpr std::uint64_t kUpperHalf = 1ULL << 32U;
  for (const std::uint64_t request : {std::uint64_t{0x5401}, kGetFlags}) {
    EXPECT_TRUE(runs(spec, native_call(SYS_ioctl, {3, request}))) << request;
  }
  for (const std::uint64_t request : {kIoctlSetFlags, kIoctlSetAttributes}) {
    for (const std::uint64_t given : {request, request | kUpperHalf}) {
      const seccomp_data call = native_call(SYS_ioctl, {3, given, 0x1000});
      EXPECT_FALSE(runs(spec, call)) << given;
      EXPECT_EQ(classify({call, 1, 1}, spec).answer, AnswerKind::kBroker) << given;
    }
  }
  const seccomp_data typed = native_call(SYS_ioctl, {0, kIoctlTiocsti});
  EXPECT_FALSE(runs(spec, typed));
  EXPECT_EQ(classify({typed, 1, 1}, spec).event.rule, "self_protection.tiocsti");
}

TEST(FileFilterTest, WhatThePolicyDeniesOfSystemCallsIsDeniedFirst) {
  FilterSpec spec = at_level(FileLevel::kDecisions);
  spec.denied.emplace(SYS_unlinkat, "syscalls.deny[0]");
  const Classification verdict = classify({native_call(SYS_unlinkat), 1, 1}, spec);
  EXPECT_EQ(verdict.answer, AnswerKind::kRefuse);
  EXPECT_EQ(verdict.event.rule, "syscalls.deny[0]");
}

schema::Event allowed_write(const std::string& path) {
  schema::Event event;
  event.outcome = schema::DecisionOutcome::kAllowed;
  event.rule = "filesystem.write.allow[0]";
  event.object.type = schema::ObjectType::kPath;
  event.object.path = schema::PathBytes(path);
  event.object.given_path = schema::PathBytes("as written");
  event.object.inode = 7;
  return event;
}

FileSpec granting(const std::string& path) {
  FileSpec spec;
  FileGrant grant;
  grant.rule = "filesystem.write.allow[0]";
  grant.path = path;
  spec.grants.push_back(grant);
  return spec;
}

TEST(TellByDirectoryTest, AllowedEventsOfOneDirectoryBecomeAlike) {
  schema::Event event = allowed_write("/work/src/a.cc");
  tell_by_directory(granting("/work"), &event);
  EXPECT_EQ(event.object.path->bytes(), "/work/src");
  EXPECT_EQ(event.object.name, "entries");
  EXPECT_FALSE(event.object.given_path || event.object.inode);
  EXPECT_TRUE(event.object.check().has_value());
  event = allowed_write("/top");
  tell_by_directory(granting("/"), &event);
  EXPECT_EQ(event.object.path->bytes(), "/");
  event = allowed_write("/work/a.cc");
  tell_by_directory(granting("/work"), &event);
  EXPECT_EQ(event.object.path->bytes(), "/work");
}

TEST(TellByDirectoryTest, NoneNamesWhatItsGrantDoesNotHave) {
  for (const char* path : {"/work", "/workshop/a.cc", "/other/a.cc"}) {
    schema::Event event = allowed_write(path);
    tell_by_directory(granting("/work"), &event);
    EXPECT_EQ(event.object.path->bytes(), path);
  }
}

TEST(TellByDirectoryTest, DenialsAndCallsOfTwoNamesStaySingle) {
  schema::Event denied = allowed_write("/work/a.cc");
  denied.outcome = schema::DecisionOutcome::kDenied;
  schema::Event renamed = allowed_write("/work/a.cc");
  renamed.object.new_path = schema::PathBytes("/work/b.cc");
  for (schema::Event* event : {&denied, &renamed}) {
    tell_by_directory(granting("/work"), event);
    EXPECT_EQ(event->object.path->bytes(), "/work/a.cc");
    EXPECT_TRUE(event->object.given_path.has_value());
  }
}

TEST(FileRequestTest, OldCallsAreFormsOfTheNewOnes) {
#if defined(SYS_creat)
  const auto made = read_file_request(native_call(SYS_creat, {0x1000, 0640}));
  ASSERT_TRUE(made && *made);
  EXPECT_EQ((*made)->call.flags, static_cast<unsigned>(O_CREAT | O_WRONLY | O_TRUNC));
  EXPECT_EQ((*made)->call.mode, 0640U);
  const auto removed = read_file_request(native_call(SYS_rmdir, {0x1000}));
  ASSERT_TRUE(removed && *removed);
  EXPECT_EQ((*removed)->call.how, static_cast<unsigned>(AT_REMOVEDIR));
  EXPECT_EQ(operations_of(**removed, true), std::vector{FileOperation::kRemoveDirectory});
#endif
  const auto exchanged = read_file_request(native_call(SYS_renameat2, {3, 0x10, 4, 0x20, 2}));
  ASSERT_TRUE(exchanged && *exchanged);
  EXPECT_EQ(operations_of(**exchanged, true), std::vector{FileOperation::kExchange});
  EXPECT_EQ((*exchanged)->second->directory, 4);
  const auto shorter = read_file_request(native_call(SYS_truncate, {0x10, ~0ULL}));
  ASSERT_TRUE(shorter.has_value());
  EXPECT_EQ(shorter->error().os_errno(), EINVAL);
  EXPECT_FALSE(read_file_request(native_call(SYS_read)).has_value());
}

TEST(FileRequestTest, ChangesOfAttributesAreOfANameALinkItselfOrADescriptor) {
  const auto named = read_file_request(native_call(SYS_fchmodat, {3, 0x1000, 0644}));
  ASSERT_TRUE(named && *named);
  EXPECT_EQ((*named)->call.how, 0U);
  EXPECT_EQ(operations_of(**named, true), std::vector{FileOperation::kAttributes});
  const auto itself = read_file_request(native_call(SYS_lsetxattr, {0x1000, 0x2000, 0, 0, 0}));
  ASSERT_TRUE(itself && *itself);
  EXPECT_EQ((*itself)->call.how, static_cast<unsigned>(AT_SYMLINK_NOFOLLOW));
  const unsigned by_descriptor = AT_EMPTY_PATH | wire::kHowDescriptor;
  for (const seccomp_data& call :
       {native_call(SYS_fchmod, {3, 0644}), native_call(SYS_fchown, {3}),
        native_call(SYS_fsetxattr, {3}), native_call(SYS_fremovexattr, {3}),
        native_call(SYS_utimensat, {3, 0, 0x1000, 0}),
        native_call(SYS_ioctl, {3, kIoctlSetFlags})}) {
    const auto request = read_file_request(call);
    ASSERT_TRUE(request && *request) << call.nr;
    EXPECT_EQ((*request)->call.how, by_descriptor) << call.nr;
    EXPECT_EQ((*request)->first->directory, 3) << call.nr;
  }
  const auto unknown = read_file_request(native_call(SYS_fchownat, {3, 0x1000, 0, 0, 0x8000}));
  ASSERT_TRUE(unknown.has_value());
  EXPECT_EQ(unknown->error().os_errno(), EINVAL);
}

}  // namespace
}  // namespace aasm::backend_native
