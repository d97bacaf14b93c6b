#include "frame_rig.h"

// A frame with one fault in its header or in the place of a section: the helper ends with its
// status and does nothing, which the control half of the script would show by making a directory.
namespace aasm::test {
namespace {

TEST(MalformedFrameTest, SoundFramesAreTaken) {
  for (const Base base : {Base::kLaunch, Base::kLaunchByPath, Base::kProbe}) {
    FrameRig rig;
    const FrameSpec spec = spec_of(rig, base);
    const schema::Bytes bytes = std::move(build_frame(spec, rig.own())).value();
    const Fd frame = std::move(process::make_sealed_memfd("frame", bytes)).value();
    const HelperEnd end = rig.run(frame);
    EXPECT_EQ(end.wait_status, 0);
    EXPECT_TRUE(rig.made_directory());
  }
}

TEST(MalformedFrameTest, HeaderWithOneFaultIsRefused) {
  const Row rows[] = {
      {"magic", [](auto& b) { header_of(b).magic ^= 1U; }},
      {"version", [](auto& b) { ++header_of(b).version; }},
      {"total size too large", [](auto& b) { ++header_of(b).total_size; }},
      {"total size too small", [](auto& b) { --header_of(b).total_size; }},
      {"header size", [](auto& b) { header_of(b).header_size += 8; }},
      {"role", [](auto& b) { header_of(b).role = 4; }},
      {"role zero", [](auto& b) { header_of(b).role = 0; }},
      {"unknown flag", [](auto& b) { header_of(b).flags |= 1U << 4; }},
      {"bounding set without capabilities",
       [](auto& b) { header_of(b).flags |= wire::kFlagBoundingSet; }},
      {"mask without capabilities", [](auto& b) { header_of(b).keep_capabilities = 1; }},
      {"identity without a path", [](auto& b) { header_of(b).flags |= wire::kFlagExecIdentity; }},
      {"identity without its flag", [](auto& b) { header_of(b).exec_identity.inode = 1; }},
      {"broker without its flag", [](auto& b) { header_of(b).broker_fd = 1; }},
      {"broker without a ruleset",
       [](auto& b) {
         header_of(b).flags |= wire::kFlagBroker;
         header_of(b).broker_fd = 900;
       }},
      {"unknown seccomp flag", [](auto& b) { header_of(b).seccomp_flags |= 1; }},
      {"launch without a listener", [](auto& b) { header_of(b).seccomp_flags = 0; }},
      {"launch that forks", [](auto& b) { header_of(b).fork_depth = 1; }},
      {"argument count too large", [](auto& b) { ++header_of(b).num_args; }},
      {"argument count too small", [](auto& b) { --header_of(b).num_args; }},
      {"environment count", [](auto& b) { ++header_of(b).num_env; }},
      {"arguments counted but absent",
       [](auto& b) {
         header_of(b).argv = {0, 0};
       }},
      {"only half a header",
       [](auto& b) {
         header_of(b).total_size = sizeof(FrameHeader) / 2;
         b.resize(sizeof(FrameHeader) / 2);
       }},
      {"no bytes", [](auto& b) { b.clear(); }},
  };
  for (const Row& row : rows) {
    expect_refused(row, Base::kLaunch);
  }
}

// Takes from a launch frame all that asks for something to be installed.
void make_unconfined(schema::Bytes& bytes) {
  FrameHeader& header = header_of(bytes);
  header.role = static_cast<std::uint32_t>(wire::Role::kUnconfined);
  header.seccomp_flags = 0;
  header.filter = header.script = header.data = header.descriptors = header.rlimits = {0, 0};
}

TEST(MalformedFrameTest, AnUnconfinedFrameThatAsksForSomethingIsRefused) {
  using Member = wire::Section FrameHeader::*;
  const auto keeping = [](Member member) {
    return [member](schema::Bytes& bytes) {
      const wire::Section section = header_of(bytes).*member;
      make_unconfined(bytes);
      header_of(bytes).*member = section;
    };
  };
  const auto with = [](const std::function<void(FrameHeader&)>& spoil) {
    return [spoil](schema::Bytes& bytes) {
      make_unconfined(bytes);
      spoil(header_of(bytes));
    };
  };
  const Row rows[] = {
      {"filter", keeping(&FrameHeader::filter)},
      {"script", keeping(&FrameHeader::script)},
      {"data", keeping(&FrameHeader::data)},
      {"descriptors", keeping(&FrameHeader::descriptors)},
      {"rlimits", keeping(&FrameHeader::rlimits)},
      {"capabilities", with([](auto& header) { header.flags = wire::kFlagCapabilities; })},
      {"ruleset", with([](auto& header) { header.rulesets[0].fd = kSpareFd; })},
      {"depth", with([](auto& header) { header.fork_depth = 1; })},
      {"no program", with([](auto& header) { header.exec_fd = -1; })},
      {"no argument", with([](auto& header) {
         header.num_args = 0;
         header.argv = {0, 0};
       })},
  };
  for (const Row& row : rows) {
    expect_refused(row, Base::kLaunch);
  }
  FrameRig rig;
  schema::Bytes bytes = std::move(build_frame(spec_of(rig, Base::kLaunch), rig.own())).value();
  make_unconfined(bytes);
  const Fd frame = std::move(process::make_sealed_memfd("frame", bytes)).value();
  const HelperEnd end = rig.run(frame);
  EXPECT_EQ(end.wait_status, 0);
  EXPECT_TRUE(end.did_something);
  EXPECT_FALSE(rig.made_directory());
}

TEST(MalformedFrameTest, SectionOutOfBoundsIsRefused) {
  using Member = wire::Section FrameHeader::*;
  const std::pair<const char*, Member> sections[] = {
      {"argv", &FrameHeader::argv},           {"envp", &FrameHeader::envp},
      {"exec_path", &FrameHeader::exec_path}, {"descriptors", &FrameHeader::descriptors},
      {"rlimits", &FrameHeader::rlimits},     {"filter", &FrameHeader::filter},
      {"script", &FrameHeader::script},       {"data", &FrameHeader::data}};
  for (const auto& named : sections) {
    SCOPED_TRACE(named.first);
    const Member member = named.second;
    // In the frame that has the section, so that it is the only fault.
    const Base base = member == &FrameHeader::exec_path ? Base::kLaunchByPath : Base::kLaunch;
    const auto section = [member](schema::Bytes& b) -> wire::Section& {
      return header_of(b).*member;
    };
    const Row rows[] = {
        {"behind the frame",
         [&](auto& b) {
           section(b) = {(header_of(b).total_size + 7) / 8 * 8, 64};
         }},
        {"size beyond the frame", [&](auto& b) { section(b).size = header_of(b).total_size; }},
        {"sum wraps around",
         [&](auto& b) {
           section(b) = {0xFFFFFFF8U, 64};
         }},
        {"largest size", [&](auto& b) { section(b).size = 0xFFFFFFFFU; }},
        {"inside the header",
         [&](auto& b) {
           section(b) = {sizeof(FrameHeader) - 8, 8};
         }},
        {"offset without size",
         [&](auto& b) {
           section(b) = {header_of(b).argv.offset, 0};
         }},
        {"unaligned",
         [&](auto& b) {
           section(b).offset = header_of(b).argv.offset + 4;
           section(b).size = section(b).size == 0 ? 8 : section(b).size;
         }},
    };
    for (const Row& row : rows) {
      expect_refused(row, base);
    }
  }
}

TEST(MalformedFrameTest, SectionOfABrokenElementIsRefused) {
  const Row rows[] = {
      {"half a descriptor", [](auto& b) { header_of(b).descriptors.size -= 2; }},
      {"half a limit", [](auto& b) { header_of(b).rlimits.size -= 8; }},
      {"half an instruction", [](auto& b) { header_of(b).filter.size -= 4; }},
      {"half an entry", [](auto& b) { header_of(b).script.size -= 32; }},
      {"argv without its end", [](auto& b) { --header_of(b).argv.size; }},
      {"envp without its end", [](auto& b) { --header_of(b).envp.size; }},
      {"data without its end", [](auto& b) { --header_of(b).data.size; }},
      {"too many entries",
       [](auto& b) {
         header_of(b).script.offset = static_cast<std::uint32_t>((b.size() + 7) / 8 * 8);
         header_of(b).script.size = 129 * sizeof(ScriptEntry);
         b.resize(header_of(b).script.offset + header_of(b).script.size);
         header_of(b).total_size = static_cast<std::uint32_t>(b.size());
         for (std::size_t i = 0; i < 129; ++i) {
           entry_of(b, i).when = wire::kWhenInside;
         }
       }},
  };
  for (const Row& row : rows) {
    expect_refused(row, Base::kLaunch);
  }
}

}  // namespace
}  // namespace aasm::test
