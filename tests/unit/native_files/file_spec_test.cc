#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "../native/policy_builder.h"
#include "file_judge.h"
#include "ruleset.h"
#include "support/temp_dir.h"

namespace aasm::backend_native {
namespace {

using schema::EvidenceWish;
using schema::Requirement;
using testing::allow_path;
using testing::deny_path;
using testing::deny_whole;
using testing::read_requirement;
using testing::write_requirement;

FileId id_at(const std::string& path) {
  struct stat facts = {};
  EXPECT_EQ(::lstat(path.c_str(), &facts), 0) << path;
  return {facts.st_dev, facts.st_ino};
}

schema::PathGrant installed(const std::string& rule, const std::string& path, bool skipped) {
  schema::PathGrant grant;
  grant.rule = rule;
  grant.resolved = schema::PathBytes(path);
  grant.access = "0x600c";
  grant.skipped = skipped;
  return grant;
}

TEST(FileLevelTest, IsTheStricterOfBothDomains) {
  const auto level = [](EvidenceWish read, EvidenceWish write) {
    Requirement reads;
    Requirement writes;
    reads.evidence = read;
    writes.evidence = write;
    return file_level(&reads, &writes);
  };
  using W = EvidenceWish;
  EXPECT_EQ(level(W::kSetup, W::kSetup), FileLevel::kSetup);
  EXPECT_EQ(level(W::kSetup, W::kWriteDecisions), FileLevel::kWriteDecisions);
  EXPECT_EQ(level(W::kSetup, W::kDecisions), FileLevel::kWriteDecisions);
  EXPECT_EQ(level(W::kWriteDecisions, W::kSetup), FileLevel::kSetup);  // of reading it says nothing
  EXPECT_EQ(level(W::kDecisions, W::kSetup), FileLevel::kDecisions);
  EXPECT_EQ(file_level(nullptr, nullptr), FileLevel::kSetup);
}

TEST(FileSpecTest, HoldsWhatWasInstalledAndWhatIsDenied) {
  const test::TempDir dir;
  const std::string root = std::filesystem::canonical(dir.path()).string();
  std::filesystem::create_directories(root + "/w/hooks");
  const std::vector<Requirement> requirements = {
      read_requirement({allow_path("r", "read", root + "/w"),
                        deny_path("d", "read", root + "/w/hooks"),
                        deny_path("d.execute", "execute", root + "/w/hooks")}),
      write_requirement({allow_path("w", "write", root + "/w"),
                         deny_path("d", "write", root + "/w/later/secret"),
                         deny_whole("none", "write")}),
  };
  const schema::Result<FileSpec> made =
      make_file_spec(requirements, {installed("r", root + "/w", false), installed("s", "/x", true)},
                     {installed("w", root + "/w", false)});
  ASSERT_TRUE(made) << made.error().message();
  const FileSpec& spec = *made;
  EXPECT_TRUE(spec.read_stated && spec.write_stated);
  ASSERT_EQ(spec.grants.size(), 2U);
  EXPECT_EQ(spec.grants[0].rights, 0x600cU);
  EXPECT_EQ(spec.grants[1].domain, schema::Domain::kFilesystemWrite);
  ASSERT_EQ(spec.denials.size(), 2U);
  const FileDenial& missing = spec.denials[0];
  EXPECT_EQ(missing.domain, schema::Domain::kFilesystemWrite);
  EXPECT_EQ(missing.ways.front().from, id_at("/"));
  EXPECT_EQ(missing.ways.back().from, id_at(root + "/w"));
  EXPECT_EQ(missing.ways.back().names, (std::vector<std::string>{"later", "secret"}));
  const FileDenial& hooks = spec.denials[1];
  EXPECT_EQ(hooks.ways.back().from, id_at(root + "/w/hooks"));
  EXPECT_TRUE(hooks.ways.back().names.empty());
}

}  // namespace
}  // namespace aasm::backend_native
