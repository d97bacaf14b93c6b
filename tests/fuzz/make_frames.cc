#include <linux/filter.h>
#include <linux/seccomp.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>

#include "helper_frame.h"

// make_frames FOLDER: writes the seeds of the helper's frame, each built as the supervisor builds
// it. Descriptor numbers are made up: the check of a frame opens none.
namespace {

namespace native = aasm::backend_native;
namespace schema = aasm::schema;
namespace wire = aasm::wire;

constexpr native::FrameDescriptors kOwn = {10, 11, 12};

wire::ScriptEntry entry(std::uint32_t number, wire::ArgKind kind, std::uint64_t value) {
  wire::ScriptEntry made = {};
  made.number = number;
  made.when = wire::kWhenControl | wire::kWhenInside;
  made.flags = wire::kCloseAfterControl;
  made.arg_kinds[0] = static_cast<std::uint8_t>(kind);
  made.args[0] = value;
  return made;
}

native::FrameSpec launch() {
  native::FrameSpec spec;
  spec.argv = {"program", "", "argument"};
  spec.environment = {"PATH=/usr/bin", "LANG=C"};
  spec.exec_fd = 13;
  spec.cwd_fd = 15;
  spec.descriptors = {0, 1, 2};
  spec.rulesets = {{14, 0}, {16, 2}};
  spec.rlimits = {{4, 0, 0, 0}};
  spec.filter = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF)};
  spec.seccomp_flags = SECCOMP_FILTER_FLAG_NEW_LISTENER;
  spec.capabilities = native::CapabilityCut{0x21, true};
  spec.signal_mask = 5;
  spec.ignored_signals = 6;
  return spec;
}

native::FrameSpec launch_by_path() {
  native::FrameSpec spec = launch();
  spec.exec_fd = -1;
  spec.exec_path = "/usr/bin/program";
  spec.exec_identity = wire::ExecIdentity{1, 2, 3, 4, 5, 6, 0};
  return spec;
}

native::FrameSpec scripted(native::FrameSpec spec) {
  spec.script = {entry(39, wire::ArgKind::kValue, 0),   entry(2, wire::ArgKind::kData, 0),
                 entry(0, wire::ArgKind::kScratch, 16), entry(3, wire::ArgKind::kResult, 1),
                 entry(62, wire::ArgKind::kOwnPid, 0),  entry(62, wire::ArgKind::kWardenPid, 0)};
  spec.script_data = std::string("/tmp/x\0", 7);
  return spec;
}

native::FrameSpec probe() {
  native::FrameSpec spec;
  spec.role = wire::Role::kProbe;
  spec.descriptors = {1, 2};
  spec.fork_depth = 2;
  return scripted(spec);
}

bool write(const std::string& path, const native::FrameSpec& spec) {
  const schema::Result<schema::Bytes> bytes = native::build_frame(spec, kOwn);
  if (!bytes) {
    return false;
  }
  std::ofstream file(path, std::ios::binary);
  const std::string_view text = schema::as_text(*bytes);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  return file.good();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string folder = argc == 2 ? argv[1] : "";
  const bool made = !folder.empty() && write(folder + "/launch", launch()) &&
                    write(folder + "/launch_by_path", launch_by_path()) &&
                    write(folder + "/launch_scripted", scripted(launch())) &&
                    write(folder + "/probe", probe());
  if (!made) {
    static_cast<void>(std::fputs("make_frames FOLDER: nothing written\n", stderr));
  }
  return made ? 0 : 1;
}
