#include <cstring>
#include <string>
#include <utility>

#include "aasm/process/pidfd.h"

#include "frame_rig.h"

// A frame with one fault in an element, and everything around a frame that can be wrong.
namespace aasm::test {
namespace {

TEST(MalformedElementTest, DescriptorWithOneFaultIsRefused) {
  const Row rows[] = {
      {"no status", [](auto& b) { header_of(b).status_fd = -1; }},
      {"no report", [](auto& b) { header_of(b).report_fd = -1; }},
      {"no socket", [](auto& b) { header_of(b).socket_fd = -1; }},
      {"status that is not open", [](auto& b) { header_of(b).status_fd = 900; }},
      {"report that is not open", [](auto& b) { header_of(b).report_fd = 900; }},
      {"socket that is not open", [](auto& b) { header_of(b).socket_fd = 900; }},
      {"program that is not open", [](auto& b) { header_of(b).exec_fd = 900; }},
      {"directory that is not open", [](auto& b) { header_of(b).cwd_fd = 900; }},
      {"ruleset that is not open", [](auto& b) { header_of(b).rulesets[0].fd = 900; }},
      {"status that is no status page",
       [](auto& b) { header_of(b).status_fd = header_of(b).report_fd; }},
      {"program below -1", [](auto& b) { header_of(b).exec_fd = -2; }},
      {"directory below -1", [](auto& b) { header_of(b).cwd_fd = -2; }},
      {"ruleset below -1", [](auto& b) { header_of(b).rulesets[0].fd = -2; }},
      {"ruleset behind an empty slot", [](auto& b) { header_of(b).rulesets[1].fd = kSpareFd; }},
      {"flags of an empty slot", [](auto& b) { header_of(b).rulesets[1].flags = 1; }},
      {"socket and report the same",
       [](auto& b) { header_of(b).socket_fd = header_of(b).report_fd; }},
      {"directory and program the same",
       [](auto& b) { header_of(b).cwd_fd = header_of(b).exec_fd; }},
      {"kept and internal the same",
       [](auto& b) { descriptors_of(b)[1] = header_of(b).report_fd; }},
      {"kept twice", [](auto& b) { descriptors_of(b)[1] = descriptors_of(b)[0]; }},
      {"kept in falling order",
       [](auto& b) { std::swap(descriptors_of(b)[0], descriptors_of(b)[1]); }},
      {"kept below zero", [](auto& b) { descriptors_of(b)[0] = -1; }},
      {"no program", [](auto& b) { header_of(b).exec_fd = -1; }},
      {"two programs", [](auto& b) { header_of(b).exec_path = header_of(b).envp; }},
  };
  for (const Row& row : rows) {
    expect_refused(row, Base::kLaunch);
  }
}

TEST(MalformedElementTest, ElementWithOneFaultIsRefused) {
  const Row rows[] = {
      {"unknown resource", [](auto& b) { rlimit_of(b).resource = 16; }},
      {"reserved in a limit", [](auto& b) { rlimit_of(b).reserved = 1; }},
      {"soft above hard", [](auto& b) { rlimit_of(b).soft = 1; }},
      {"entry in no half", [](auto& b) { entry_of(b, 0).when = 0; }},
      {"entry in an unknown half", [](auto& b) { entry_of(b, 0).when |= 4; }},
      {"unknown entry flag", [](auto& b) { entry_of(b, 0).flags = 8; }},
      {"reserved in an entry", [](auto& b) { entry_of(b, 0).reserved = 1; }},
      {"unknown argument kind", [](auto& b) { entry_of(b, 0).arg_kinds[5] = 6; }},
      {"data beyond its section", [](auto& b) { entry_of(b, 0).args[1] = header_of(b).data.size; }},
      {"data far beyond", [](auto& b) { entry_of(b, 0).args[1] = ~std::uint64_t{0}; }},
      {"scratch beyond its size", [](auto& b) { entry_of(b, 1).args[1] = wire::kScratchSize; }},
      {"result of the entry itself", [](auto& b) { entry_of(b, 1).args[0] = 1; }},
      {"result of a later entry",
       [](auto& b) {
         entry_of(b, 0).arg_kinds[3] = static_cast<std::uint8_t>(wire::ArgKind::kResult);
         entry_of(b, 0).args[3] = 1;
       }},
      {"own pid with a value",
       [](auto& b) {
         entry_of(b, 1).arg_kinds[2] = static_cast<std::uint8_t>(wire::ArgKind::kOwnPid);
         entry_of(b, 1).args[2] = 1;
       }},
  };
  for (const Row& row : rows) {
    expect_refused(row, Base::kLaunch);
    expect_refused(row, Base::kProbe);
  }
}

TEST(MalformedElementTest, LaunchByPathWithOneFaultIsRefused) {
  const Row rows[] = {
      {"reserved in the identity", [](auto& b) { header_of(b).exec_identity.reserved = 1; }},
      {"path without its end", [](auto& b) { --header_of(b).exec_path.size; }},
      {"NUL inside instead of at the end",
       [](auto& b) {
         const wire::Section path = header_of(b).exec_path;
         b[path.offset + 1] = 0;
         b[path.offset + path.size - 1] = 'x';
       }},
      {"program below -1", [](auto& b) { header_of(b).exec_fd = -2; }},
      {"two strings", [](auto& b) { b[header_of(b).exec_path.offset + 1] = 0; }},
      {"no path",
       [](auto& b) {
         header_of(b).exec_path = {0, 0};
         header_of(b).flags &= ~wire::kFlagExecIdentity;
         header_of(b).exec_identity = {};
       }},
      {"identity left without its flag",
       [](auto& b) { header_of(b).flags &= ~wire::kFlagExecIdentity; }},
      {"no arguments",
       [](auto& b) {
         header_of(b).argv = {0, 0};
         header_of(b).num_args = 0;
       }},
      {"no filter",
       [](auto& b) {
         header_of(b).filter = {0, 0};
         header_of(b).seccomp_flags = 0;
       }},
  };
  for (const Row& row : rows) {
    expect_refused(row, Base::kLaunchByPath);
  }
}

TEST(MalformedElementTest, ProbeWithAProgramIsRefused) {
  const Row rows[] = {
      {"unknown role", [](auto& b) { header_of(b).role = 4; }},
      {"program", [](auto& b) { header_of(b).exec_fd = kSpareFd; }},
      {"path", [](auto& b) { header_of(b).exec_path = header_of(b).data; }},
      {"arguments",
       [](auto& b) {
         header_of(b).argv = header_of(b).data;
         header_of(b).num_args = 1;
       }},
      {"environment",
       [](auto& b) {
         header_of(b).envp = header_of(b).data;
         header_of(b).num_env = 1;
       }},
      {"too deep", [](auto& b) { header_of(b).fork_depth = wire::kMaxForkDepth + 1; }},
      {"listener without a filter", [](auto& b) { header_of(b).seccomp_flags = 8; }},
  };
  for (const Row& row : rows) {
    expect_refused(row, Base::kProbe);
  }
}

TEST(MalformedElementTest, FrameThatCouldStillChangeIsRefused) {
  for (const int missing : {F_SEAL_WRITE, F_SEAL_GROW, F_SEAL_SHRINK, F_SEAL_SEAL}) {
    FrameRig rig;
    const schema::Bytes bytes = std::move(build_frame(rig.launch_spec(), rig.own())).value();
    const Fd frame = std::move(process::make_memfd("frame")).value();
    ASSERT_TRUE(process::write_all(frame.borrow(), bytes).has_value());
    const int all = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL;
    ASSERT_TRUE(process::add_seals(frame.borrow(), all & ~missing).has_value());
    const HelperEnd end = rig.run(frame);
    EXPECT_EQ(WEXITSTATUS(end.wait_status), wire::kHelperExitStatus) << missing;
    EXPECT_FALSE(end.did_something) << missing;
  }
}

TEST(MalformedElementTest, StatusPageWithOneFaultIsRefused) {
  constexpr int kSeals = F_SEAL_GROW | F_SEAL_SHRINK;
  const auto fill = [](std::uint32_t magic, std::uint32_t version, std::uint32_t size) {
    schema::Bytes page(wire::kStatusSize);
    const std::uint32_t head[] = {magic, version, size};
    std::memcpy(page.data(), head, sizeof(head));
    return page;
  };
  struct StatusRow {
    const char* name;
    schema::Bytes page;
    int seals;
    bool good;
  };
  const auto sound = fill(wire::kStatusMagic, wire::kStatusVersion, wire::kStatusSize);
  schema::Bytes longer = sound;
  longer.resize(2UL * wire::kStatusSize);
  const StatusRow rows[] = {
      {"sound", sound, kSeals, true},
      {"magic", fill(1, wire::kStatusVersion, wire::kStatusSize), kSeals, false},
      {"version", fill(wire::kStatusMagic, 2, wire::kStatusSize), kSeals, false},
      {"stated size", fill(wire::kStatusMagic, wire::kStatusVersion, 8192), kSeals, false},
      {"real size", longer, kSeals, false},
      {"could grow", sound, F_SEAL_SHRINK, false},
      {"could shrink", sound, F_SEAL_GROW, false},
  };
  for (const StatusRow& row : rows) {
    FrameRig rig;
    const Fd page = std::move(process::make_memfd("status")).value();
    ASSERT_TRUE(process::write_all(page.borrow(), row.page).has_value());
    ASSERT_TRUE(process::add_seals(page.borrow(), row.seals).has_value());
    FrameDescriptors own = rig.own();
    own.status = page.get();
    const schema::Bytes bytes = std::move(build_frame(rig.launch_spec(), own)).value();
    const Fd frame = std::move(process::make_sealed_memfd("frame", bytes)).value();
    const HelperEnd end = rig.run(frame, {}, page.get());
    EXPECT_EQ(end.wait_status == 0, row.good) << row.name;
    EXPECT_EQ(end.did_something, row.good) << row.name;
  }
}

TEST(MalformedElementTest, OtherArgumentsAreRefused) {
  FrameRig rig;
  const schema::Bytes bytes = std::move(build_frame(rig.launch_spec(), rig.own())).value();
  const Fd frame = std::move(process::make_sealed_memfd("frame", bytes)).value();
  const HelperEnd end = rig.run(frame, {"more"});
  EXPECT_EQ(WEXITSTATUS(end.wait_status), wire::kHelperExitStatus);
  EXPECT_FALSE(end.did_something);
  FrameRig again;
  const schema::Bytes good = std::move(build_frame(again.launch_spec(), again.own())).value();
  const Fd good_frame = std::move(process::make_sealed_memfd("frame", good)).value();
  const HelperEnd suffixed = again.run(good_frame, {}, kSpareFd + 1, "x");
  EXPECT_EQ(WEXITSTATUS(suffixed.wait_status), wire::kHelperExitStatus);
  EXPECT_FALSE(suffixed.did_something);
  for (const char* argument : {"", "x", "3x", "-1", " 3", "9999999", "900"}) {
    process::SpawnRequest request;
    const Fd helper = std::move(process::open_file(AASM_HELPER, O_PATH)).value();
    request.program = helper.borrow();
    request.argv = {"helper", argument};
    const auto process = std::move(process::spawn(request)).value();
    int status = 0;
    ::waitpid(process.pid, &status, 0);
    EXPECT_EQ(WEXITSTATUS(status), wire::kHelperExitStatus) << argument;
  }
}

}  // namespace
}  // namespace aasm::test
