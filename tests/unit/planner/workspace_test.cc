#include "aasm/planner/workspace.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "planner_support.h"
#include "temp_dir.h"

namespace aasm::planner {
namespace {

namespace fs = std::filesystem;

class WorkspaceTest : public ::testing::Test {
 protected:
  WorkspaceTest() : home_(dir_.path() + "/home"), work_(home_ + "/work") {
    fs::create_directories(work_);
  }

  void program(const std::string& path) {
    fs::create_directories(fs::path(path).parent_path());
    std::ofstream(path) << "#!/bin/sh\n";
  }

  WorkspaceHost host(std::vector<std::string> program_path) const {
    WorkspaceHost host;
    host.program_path = std::move(program_path);
    host.home = home_;
    host.workdir = work_;
    return host;
  }

  const testing::TempDir dir_;
  std::string home_;
  std::string work_;
};

using Paths = std::vector<std::string>;

TEST_F(WorkspaceTest, AToolchainIsGrantedWithWhatItIsInstalledWith) {
  program(dir_.path() + "/tools/go-1/bin/go");
  EXPECT_EQ(survey_workspace(host({dir_.path() + "/tools/go-1/bin"})).programs,
            (Paths{dir_.path() + "/tools/go-1/bin", dir_.path() + "/tools/go-1"}));
}

TEST_F(WorkspaceTest, ALinkOnPathLeadsToTheInstallation) {
  program(dir_.path() + "/tools/node/bin/node");
  fs::create_directories(dir_.path() + "/links");
  fs::create_symlink("../tools/node/bin/node", dir_.path() + "/links/node");
  EXPECT_EQ(survey_workspace(host({dir_.path() + "/links"})).programs,
            (Paths{dir_.path() + "/links", dir_.path() + "/tools/node"}));
}

TEST_F(WorkspaceTest, AnInstallationInTheHomeDoesNotGrantTheHome) {
  program(home_ + "/bin/node");
  EXPECT_EQ(survey_workspace(host({home_ + "/bin"})).programs, Paths{home_ + "/bin"});
  program(home_ + "/.local/bin/uv");
  EXPECT_EQ(survey_workspace(host({home_ + "/.local/bin"})).programs, Paths{home_ + "/.local/bin"});
}

TEST_F(WorkspaceTest, VersionManagersAreGrantedWithoutTheirCredentials) {
  program(home_ + "/.cargo/bin/cargo");
  fs::create_directories(home_ + "/.rustup/toolchains");
  std::ofstream(home_ + "/.cargo/credentials.toml") << "token";
  const Workspace found = survey_workspace(host({home_ + "/.cargo/bin"}));
  EXPECT_EQ(found.programs, (Paths{home_ + "/.cargo/bin", home_ + "/.rustup"}));
  EXPECT_EQ(found.caches, (std::vector<CacheVariable>{{"CARGO_HOME", "cargo"}}));
  EXPECT_EQ(found.variables, Paths{"RUSTUP_HOME"});
}

TEST_F(WorkspaceTest, ProgramsInTheWorkingDirectoryNeedNoGrantOfTheirOwn) {
  program(work_ + "/venv/bin/python3");
  EXPECT_EQ(survey_workspace(host({work_ + "/venv/bin", "bin", ""})).programs, Paths{});
}

TEST_F(WorkspaceTest, OfAWorktreesRepositoryHooksAndSettingsStayOut) {
  const std::string shared = dir_.path() + "/main/.git";
  const std::string own = shared + "/worktrees/w";
  for (const char* part : {"/objects", "/refs", "/hooks", "/worktrees/w"}) {
    fs::create_directories(shared + part);
  }
  std::ofstream(work_ + "/.git") << "gitdir: " << own << "\n";
  std::ofstream(own + "/commondir") << "../..\n";
  std::ofstream(own + "/gitdir") << work_ << "/.git\n";
  const Workspace found = survey_workspace(host({}));
  EXPECT_EQ(found.git_readable, Paths{shared});
  EXPECT_EQ(found.git_writable, (Paths{own, shared + "/objects", shared + "/refs"}));
  EXPECT_FALSE(found.git_inside);
  EXPECT_EQ(git_directories(host({})), (Paths{own, shared}));
}

TEST_F(WorkspaceTest, ARepositoryInTheWorkingDirectoryIsInItsGrant) {
  fs::create_directories(work_ + "/.git/hooks");
  EXPECT_TRUE(survey_workspace(host({})).git_inside);
  EXPECT_EQ(git_directories(host({})), Paths{work_ + "/.git"});
}

TEST_F(WorkspaceTest, AFileCalledGitThatNamesNothingIsNoRepository) {
  for (const char* text : {"", "gitdir: \n", "gitdir: /none\n", "something else\n"}) {
    std::ofstream(work_ + "/.git") << text;
    EXPECT_EQ(git_directories(host({})), Paths{}) << text;
  }
}

// The file is the working directory's, which the agent of an earlier run could write.
TEST_F(WorkspaceTest, WhereAFileCalledGitPointsHasToPointBack) {
  const std::string keys = home_ + "/.ssh";
  const std::string stranger = dir_.path() + "/other/.git";
  for (const std::string& made :
       {keys, stranger + "/worktrees/w", work_ + "/x/worktrees/y", stranger + "/objects"}) {
    fs::create_directories(made);
  }
  std::ofstream(stranger + "/worktrees/w/commondir") << "../..\n";
  std::ofstream(stranger + "/worktrees/w/gitdir") << home_ << "/elsewhere/.git\n";
  std::ofstream(work_ + "/x/worktrees/y/gitdir") << work_ << "/.git\n";
  std::ofstream(work_ + "/x/worktrees/y/commondir") << keys << "\n";
  std::ofstream(keys + "/config") << "Host *\n";
  for (const std::string& named : {keys, stranger, stranger + "/worktrees/w",
                                   std::string("x/worktrees/y"), home_, std::string("../.ssh")}) {
    std::ofstream(work_ + "/.git") << "gitdir: " << named << "\n";
    EXPECT_EQ(confirmed_git_directories(host({})), Paths{}) << named;
    EXPECT_EQ(survey_workspace(host({})).git_writable, Paths{}) << named;
  }
  fs::remove(work_ + "/.git");
  fs::create_directory_symlink(keys, work_ + "/.git");
  EXPECT_EQ(confirmed_git_directories(host({})), Paths{}) << "a link";
}

TEST_F(WorkspaceTest, ASubmodulesRepositoryIsGrantedWhereItsSettingsNameThePlace) {
  const std::string own = home_ + "/.git/modules/work";
  fs::create_directories(own);
  std::ofstream(work_ + "/.git") << "gitdir: ../.git/modules/work\n";
  EXPECT_EQ(confirmed_git_directories(host({})), Paths{});
  std::ofstream(own + "/config") << "[core]\n\tbare = false\n\tworktree = ../../../work\n";
  EXPECT_EQ(confirmed_git_directories(host({})), Paths{own});
  EXPECT_EQ(survey_workspace(host({})).git_writable, Paths{own});
}

TEST_F(WorkspaceTest, ThePolicyForAWorkspaceLoadsWhateverItsPathsAreCalled) {
  const std::string odd = dir_.path() + "/o dd: \"#' \xC3\xBC";
  program(odd + "/bin/go");
  program(dir_.path() + "/bad\xFF/bin/node");
  Workspace found = survey_workspace(host({odd + "/bin", dir_.path() + "/bad\xFF/bin"}));
  EXPECT_EQ(found.programs.size(), 4U);
  const std::string text = starter_policy(path_exists, found);
  PolicyRequest request;
  request.sources.option = "/p.yaml";
  request.paths = {work_, home_};
  request.hash = testing::fake_hash;
  request.reader = [&](const std::string&, std::size_t) {
    return schema::Result<std::optional<std::string>>(std::optional<std::string>(text));
  };
  const ResolvedPolicy policy = resolve_policy(request);
  EXPECT_EQ(policy.record.error, "") << text;
  const schema::Requirement* read = policy.record.requirement_for(schema::Domain::kFilesystemRead);
  ASSERT_NE(read, nullptr);
  int granted = 0;
  for (const schema::PolicyRule& rule : read->rules) {
    granted += rule.selector.value.bytes() == odd ? 1 : 0;
  }
  EXPECT_EQ(granted, 2) << "to read and to execute";
  EXPECT_EQ(text.find("bad"), std::string::npos) << "what is not UTF-8 cannot be written down";
}

}  // namespace
}  // namespace aasm::planner
