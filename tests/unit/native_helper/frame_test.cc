#include <sys/sysmacros.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>

#include <gtest/gtest.h>

#include "as_user.h"
#include "helper_frame.h"
#include "launch_harness.h"

namespace aasm::backend_native {
namespace {

const FrameDescriptors kOwn = {10, 11, 12};

FrameSpec launch_spec() {
  FrameSpec spec;
  spec.argv = {"name", "", "\xFF"};
  spec.environment = {"A=1"};
  spec.exec_fd = 13;
  spec.descriptors = {2, 0, 1};
  spec.rulesets = {{14, 2}};
  spec.rlimits = {{4, 0, 0, 0}};
  spec.filter = test::small_filter();
  spec.seccomp_flags = 8;
  spec.capabilities = CapabilityCut{0x21, true};
  spec.signal_mask = 5;
  spec.ignored_signals = 6;
  spec.script.resize(2);
  spec.script_data = std::string("path\0", 5);
  return spec;
}

wire::FrameHeader header_of(const schema::Bytes& bytes) {
  wire::FrameHeader header = {};
  std::memcpy(&header, bytes.data(), sizeof(header));
  return header;
}

std::string section_text(const schema::Bytes& bytes, wire::Section section) {
  return {bytes.begin() + section.offset, bytes.begin() + section.offset + section.size};
}

TEST(FrameTest, EveryPartOfTheSpecStandsInTheFrame) {
  const FrameSpec spec = launch_spec();
  const schema::Bytes bytes = std::move(build_frame(spec, kOwn)).value();
  const wire::FrameHeader header = header_of(bytes);
  EXPECT_EQ(header.total_size, bytes.size());
  EXPECT_EQ(header.status_fd, 10);
  EXPECT_EQ(header.report_fd, 11);
  EXPECT_EQ(header.socket_fd, 12);
  EXPECT_EQ(header.exec_fd, 13);
  EXPECT_EQ(header.cwd_fd, -1);
  EXPECT_EQ(header.rulesets[0].fd, 14);
  EXPECT_EQ(header.rulesets[0].flags, 2U);
  EXPECT_EQ(header.rulesets[1].fd, -1);
  EXPECT_EQ(header.keep_capabilities, 0x21U);
  EXPECT_EQ(header.flags, wire::kFlagCapabilities | wire::kFlagBoundingSet);
  EXPECT_EQ(header.signal_mask, 5U);
  EXPECT_EQ(header.ignored_signals, 6U);
  EXPECT_EQ(header.num_args, 3U);
  EXPECT_EQ(section_text(bytes, header.argv), std::string("name\0\0\xFF\0", 8));
  EXPECT_EQ(section_text(bytes, header.envp), std::string("A=1\0", 4));
  EXPECT_EQ(section_text(bytes, header.data), spec.script_data);
  const std::int32_t sorted[] = {0, 1, 2};
  EXPECT_EQ(section_text(bytes, header.descriptors),
            std::string(reinterpret_cast<const char*>(sorted), sizeof(sorted)));  // NOLINT
  EXPECT_EQ(header.filter.size, spec.filter.size() * 8);
  EXPECT_EQ(header.script.size, 2 * sizeof(wire::ScriptEntry));
  EXPECT_EQ(header.exec_path.size, 0U);
  for (const auto section : {header.argv, header.envp, header.descriptors, header.filter}) {
    EXPECT_EQ(section.offset % 8, 0U);
  }
}

TEST(FrameTest, SpecThatBreaksOneRuleIsRefused) {
  struct Row {
    const char* name;
    void (*spoil)(FrameSpec&);
  };
  const Row rows[] = {
      {"NUL in an argument", [](FrameSpec& s) { s.argv[1] = std::string("a\0b", 3); }},
      {"NUL in the environment", [](FrameSpec& s) { s.environment[0] = std::string("\0", 1); }},
      {"NUL in the path",
       [](FrameSpec& s) {
         s.exec_fd = -1;
         s.exec_path = std::string("a\0b", 3);
       }},
      {"no argument", [](FrameSpec& s) { s.argv.clear(); }},
      {"no program", [](FrameSpec& s) { s.exec_fd = -1; }},
      {"two programs", [](FrameSpec& s) { s.exec_path = "/x"; }},
      {"no filter", [](FrameSpec& s) { s.filter.clear(); }},
      {"launch that forks", [](FrameSpec& s) { s.fork_depth = 1; }},
      {"probe with a program", [](FrameSpec& s) { s.role = wire::Role::kProbe; }},
      {"data without end", [](FrameSpec& s) { s.script_data = "x"; }},
      {"three rulesets", [](FrameSpec& s) { s.rulesets.resize(3); }},
      {"too many limits", [](FrameSpec& s) { s.rlimits.resize(17); }},
      {"too many entries", [](FrameSpec& s) { s.script.resize(129); }},
      {"too many instructions", [](FrameSpec& s) { s.filter.resize(4097); }},
      {"too many descriptors", [](FrameSpec& s) { s.descriptors.resize(1025); }},
      {"too long an argument", [](FrameSpec& s) { s.argv[1] = std::string(9U << 20, 'x'); }},
  };
  ASSERT_TRUE(build_frame(launch_spec(), kOwn).has_value());
  for (const Row& row : rows) {
    FrameSpec spec = launch_spec();
    row.spoil(spec);
    EXPECT_FALSE(build_frame(spec, kOwn).has_value()) << row.name;
  }
}

TEST(FrameTest, IdentityKeepsItsInstantOnBothSidesOfTheEpoch) {
  process::FileIdentity file;
  file.device = ::gnu_dev_makedev(8, 300);
  file.inode = 7;
  file.size = 9;
  file.ctime_ns = 1'500'000'001;
  const wire::ExecIdentity after = exec_identity(file);
  EXPECT_EQ(after.ctime_sec, 1);
  EXPECT_EQ(after.ctime_nsec, 500'000'001U);
  EXPECT_EQ(after.dev_major, 8U);
  EXPECT_EQ(after.dev_minor, 300U);
  file.ctime_ns = -1;
  const wire::ExecIdentity before = exec_identity(file);
  EXPECT_EQ(before.ctime_sec, -1);
  EXPECT_EQ(before.ctime_nsec, 999'999'999U);
}

TEST(FrameTest, InheritedSignalsAreTheMaskAndWhatIsIgnored) {
  EXPECT_EQ(test::run_in_child(false,
                               []() -> std::string {
                                 ::signal(SIGHUP, SIG_IGN);
                                 ::signal(SIGPIPE, SIG_DFL);
                                 sigset_t set;
                                 ::sigemptyset(&set);
                                 ::sigaddset(&set, SIGUSR1);
                                 ::sigprocmask(SIG_SETMASK, &set, nullptr);
                                 const auto signals = inherited_signals();
                                 AASM_CHILD_CHECK(signals.mask == 1U << (SIGUSR1 - 1), "");
                                 AASM_CHILD_CHECK((signals.ignored & 1U << (SIGHUP - 1)) != 0, "");
                                 AASM_CHILD_CHECK((signals.ignored & 1U << (SIGPIPE - 1)) == 0, "");
                                 return {};
                               }),
            "");
}

}  // namespace
}  // namespace aasm::backend_native
