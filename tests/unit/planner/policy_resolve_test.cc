#include "aasm/planner/policy_resolve.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "aasm/schema/json_write.h"
#include "aasm/schema/policy_parts.h"

#include "planner_support.h"
#include "temp_dir.h"

namespace aasm::planner {
namespace {

using schema::PolicyState;

// Files by name; a name with the text "!" is there and cannot be read.
using Files = std::map<std::string, std::string>;

PolicyRequest request_with(const Files& files) {
  PolicyRequest request;
  request.sources.home = "/home/u/.aasm/policy.yaml";
  request.current_dir = "/work/dir";
  request.paths = {"/work/dir", "/home/u"};
  request.resolver = testing::FakeHost().resolver();
  request.hash = testing::fake_hash;
  request.reader = [files](const std::string& path,
                           std::size_t /*max*/) -> schema::Result<std::optional<std::string>> {
    const auto found = files.find(path);
    if (found == files.end()) {
      return std::optional<std::string>();
    }
    if (found->second == "!") {
      return schema::Error(schema::ErrorCode::kPermissionDenied, "cannot be opened");
    }
    return std::optional<std::string>(found->second);
  };
  return request;
}

TEST(PolicyResolveTest, TheFirstPlaceThatHoldsAPolicyIsUsed) {
  const std::string minimal(testing::kMinimal);
  Files files = {{"/etc/aasm/policy.yaml", minimal}};
  EXPECT_EQ(resolve_policy(request_with(files)).record.source_kind, "system");
  files["/home/u/.aasm/policy.yaml"] = minimal;
  EXPECT_EQ(resolve_policy(request_with(files)).record.source_kind, "home");
  files["/env.yaml"] = minimal;
  PolicyRequest request = request_with(files);
  request.sources.environment = "/env.yaml";
  EXPECT_EQ(resolve_policy(request).record.source_kind, "environment");
  files["/work/dir/own.yaml"] = minimal;
  request = request_with(files);
  request.sources.environment = "/env.yaml";
  request.sources.option = "own.yaml";
  const ResolvedPolicy policy = resolve_policy(request);
  EXPECT_EQ(policy.record.source_kind, "option");
  EXPECT_EQ(policy.source_path, "/work/dir/own.yaml");
  EXPECT_EQ(policy.record.state, PolicyState::kEnforced);
  EXPECT_EQ(policy.bytes, minimal);
  EXPECT_EQ(policy.record.document, testing::fake_hash(schema::as_bytes(minimal)));
  EXPECT_TRUE(policy.record.check());
}

TEST(PolicyResolveTest, ALaterPlaceNeverRepairsAnEarlierOne) {
  const std::string good(testing::kMinimal);
  for (const char* bad : {"!", "filesystem: [", "filesytem: {}\n", ""}) {
    const ResolvedPolicy policy = resolve_policy(
        request_with({{"/home/u/.aasm/policy.yaml", bad}, {"/etc/aasm/policy.yaml", good}}));
    EXPECT_EQ(policy.record.state, PolicyState::kLoadFailed) << bad;
    EXPECT_EQ(policy.record.source_kind, "home");
    EXPECT_FALSE(policy.record.error.empty());
    EXPECT_TRUE(policy.record.requirements.empty());
    EXPECT_TRUE(policy.record.check()) << bad;
  }
}

TEST(PolicyResolveTest, AnUnconfiguredDocumentIsNotRepairedEither) {
  const ResolvedPolicy policy =
      resolve_policy(request_with({{"/home/u/.aasm/policy.yaml", "tools: {}\n"},
                                   {"/etc/aasm/policy.yaml", std::string(testing::kMinimal)}}));
  EXPECT_EQ(policy.record.state, PolicyState::kUnconfigured);
  EXPECT_EQ(policy.record.source_kind, "home");
  EXPECT_TRUE(policy.record.check());
}

TEST(PolicyResolveTest, ANamedPolicyThatIsMissingIsALoadFailure) {
  const Files files = {{"/etc/aasm/policy.yaml", std::string(testing::kMinimal)}};
  PolicyRequest request = request_with(files);
  request.sources.option = "/none.yaml";
  EXPECT_EQ(resolve_policy(request).record.state, PolicyState::kLoadFailed);
  EXPECT_EQ(resolve_policy(request).record.error, "/none.yaml: there is no such file");
  request = request_with(files);
  request.sources.environment = "/none.yaml";
  EXPECT_EQ(resolve_policy(request).record.state, PolicyState::kLoadFailed);
  request.sources.environment = "";
  EXPECT_EQ(resolve_policy(request).record.source_kind, "system");
}

TEST(PolicyResolveTest, NoPolicyAnywhereIsUnconfiguredAndSaysWhereItLooked) {
  const ResolvedPolicy policy = resolve_policy(request_with({}));
  EXPECT_EQ(policy.record.state, PolicyState::kUnconfigured);
  EXPECT_EQ(policy.record.source_kind, "none");
  EXPECT_FALSE(policy.record.document);
  EXPECT_EQ(policy.looked_in,
            (std::vector<std::string>{"/home/u/.aasm/policy.yaml", "/etc/aasm/policy.yaml"}));
  EXPECT_TRUE(policy.record.check());
}

TEST(PolicyResolveTest, ErrorsNameSourceLineAndColumn) {
  PolicyRequest request = request_with({{"/p.yaml", "filesystem:\n  raed: {}\n  write: 5\n"}});
  request.sources.option = "/p.yaml";
  EXPECT_EQ(resolve_policy(request).record.error,
            "/p.yaml:2:3: unknown key `raed` in filesystem; did you mean `read`?\n"
            "/p.yaml:3:10: filesystem.write has to be a map and is text");
}

TEST(PolicyResolveTest, FaultsThatOnlyTheHostShowsAreLoadFailuresWithTheirLine) {
  PolicyRequest request = request_with({{"/p.yaml", "filesystem:\n  write: {allow: [/none]}\n"}});
  request.sources.option = "/p.yaml";
  testing::FakeHost host;
  host.missing = {"/none"};
  request.resolver = host.resolver();
  const ResolvedPolicy policy = resolve_policy(request);
  EXPECT_EQ(policy.record.state, PolicyState::kLoadFailed);
  EXPECT_EQ(policy.record.error.substr(0, 13), "/p.yaml:2:19:");
  EXPECT_TRUE(policy.record.requirements.empty());
}

TEST(PolicyResolveTest, EnvelopeAndFlatDocumentsGiveTheSameRequirements) {
  PolicyRequest request =
      request_with({{"/flat.yaml", testing::file_text(testing::testdata("flat.yaml"))},
                    {"/envelope.yaml", testing::file_text(testing::testdata("envelope.yaml"))}});
  request.sources.option = "/flat.yaml";
  ResolvedPolicy flat = resolve_policy(request);
  request.sources.option = "/envelope.yaml";
  ResolvedPolicy envelope = resolve_policy(request);
  ASSERT_EQ(flat.record.error, "");
  ASSERT_EQ(envelope.record.error, "");
  for (ResolvedPolicy* policy : {&flat, &envelope}) {
    policy->record.source = {};
    policy->record.document.reset();
    for (schema::Requirement& requirement : policy->record.requirements) {
      for (schema::PolicyRule& rule : requirement.rules) {
        rule.line.reset();
        rule.column.reset();
      }
    }
  }
  EXPECT_EQ(schema::write_fields(flat.record), schema::write_fields(envelope.record));
}

TEST(PolicyResolveTest, APolicyThatNoRecordsHoldIsALoadFailure) {
  const auto policy_of = [](std::size_t rules, const std::string& path) {
    std::string text = "filesystem: {write: {allow: []}, execute: {allow: []}, read: {allow: [";
    for (std::size_t i = 0; i < rules; ++i) {
      text += "/" + std::to_string(i) + path + ", ";
    }
    PolicyRequest request = request_with({{"/p.yaml", text + "]}}\n"}});
    request.sources.option = "/p.yaml";
    return resolve_policy(request);
  };
  const std::string folder = "/" + std::string(250, 'p');
  const std::string deep = folder + folder + folder + folder + folder + folder;
  for (const ResolvedPolicy& policy : {policy_of(1000, ""), policy_of(300, deep)}) {
    EXPECT_EQ(policy.record.state, PolicyState::kEnforced) << policy.record.error;
    for (const schema::PolicyResolved& part : schema::split_policy(policy.record)) {
      EXPECT_TRUE(part.check());
    }
  }
  // Besides the grants, what is not stated is a gap, and the empty list of `execute` a rule.
  const std::size_t others = schema::num_policy_items(policy_of(10, "").record) - 10;
  const std::size_t most = schema::kMaxPolicyItems - others;
  EXPECT_EQ(policy_of(most, "").record.error, "");
  const ResolvedPolicy many = policy_of(most + 1, "");
  EXPECT_EQ(many.record.state, PolicyState::kLoadFailed);
  EXPECT_EQ(many.record.error,
            "/p.yaml: the policy comes to 4097 rules and gaps, and there is room for 4096 in the "
            "record of a run; grant directories in place of what lies in them");
  EXPECT_TRUE(many.record.check());
  EXPECT_TRUE(many.record.requirements.empty());
  EXPECT_TRUE(many.places.empty());
}

// Case 85: each entry costs its own way down and nothing else; no tree is walked and no directory
// read, so one that cannot be read is no matter.
TEST(PolicyResolveTest, AnEntryIsFollowedOnceWhateverLiesBelowIt) {
  const testing::TempDir dir;
  std::string text = "filesystem: {write: {allow: []}, read: {allow: [";
  for (int i = 0; i < 15; ++i) {
    const std::string path = dir.path() + "/" + std::to_string(i);
    std::filesystem::create_directories(path + "/below");
    for (int j = 0; j < 50; ++j) {
      std::ofstream(path + "/below/" + std::to_string(j)) << "";
    }
    std::filesystem::permissions(path + "/below", std::filesystem::perms::none);
    text += path + ", ";
  }
  PolicyRequest request = request_with({{"/p.yaml", text + "]}}\n"}});
  request.sources.option = "/p.yaml";
  int followed = 0;
  request.resolver = [&](const std::string& path) {
    ++followed;
    EXPECT_EQ(path.find("below"), std::string::npos);
    return walk_path(path);
  };
  const ResolvedPolicy policy = resolve_policy(request);
  EXPECT_EQ(policy.record.error, "");
  EXPECT_EQ(policy.record.requirement_for(schema::Domain::kFilesystemRead)->rules.size(), 15U);
  EXPECT_EQ(followed, 16) << "the fifteen, and the document itself";
  for (int i = 0; i < 15; ++i) {
    std::filesystem::permissions(dir.path() + "/" + std::to_string(i) + "/below",
                                 std::filesystem::perms::owner_all);
  }
}

TEST(PolicyFileTest, RegularFilesAreReadAndAbsentOnesAreNone) {
  const testing::TempDir dir;
  std::ofstream(dir.path() + "/p") << "text";
  const auto bytes = read_policy_file(dir.path() + "/p", 4);
  ASSERT_TRUE(bytes);
  EXPECT_EQ(*bytes, std::optional<std::string>("text"));
  EXPECT_EQ(*read_policy_file(dir.path() + "/none", 4), std::nullopt);
  EXPECT_EQ(*read_policy_file(dir.path() + "/p/below", 4), std::nullopt);
}

TEST(PolicyFileTest, WhatIsThereAndCannotBeUsedIsAnError) {
  const testing::TempDir dir;
  std::ofstream(dir.path() + "/big") << "12345";
  ASSERT_EQ(::mkfifo((dir.path() + "/fifo").c_str(), 0600), 0);
  EXPECT_EQ(read_policy_file(dir.path() + "/big", 4).error().code(),
            schema::ErrorCode::kResourceExhausted);
  EXPECT_NE(read_policy_file(dir.path(), 4).error().message().find("is a directory"),
            std::string::npos);
  EXPECT_NE(read_policy_file(dir.path() + "/fifo", 4).error().message().find("not a regular file"),
            std::string::npos);
  std::filesystem::create_symlink("loop", dir.path() + "/loop");
  EXPECT_FALSE(read_policy_file(dir.path() + "/loop", 4));
}

TEST(PolicyFileTest, UnreadableFileIsNotTakenForAnAbsentOne) {
  if (::geteuid() == 0) {
    GTEST_SKIP() << "root reads files of any mode";
  }
  const testing::TempDir dir;
  std::ofstream(dir.path() + "/p") << "text";
  ASSERT_EQ(::chmod((dir.path() + "/p").c_str(), 0), 0);
  EXPECT_EQ(read_policy_file(dir.path() + "/p", 4).error().os_errno(), EACCES);
}

}  // namespace
}  // namespace aasm::planner
