#pragma once

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "aasm/process/spawn.h"

#include "launch_harness.h"
#include "script_calls.h"
#include "temp_dir.h"
#include "warden_channel.h"

// For tests that give the helper frames that nobody but a bug or an attacker would send.
namespace aasm::test {

using backend_native::FrameDescriptors;
using backend_native::FrameSpec;
using backend_native::StatusView;
using process::Fd;
using wire::FrameHeader;
using wire::ScriptEntry;

// Open in the helper, and not in any frame.
inline constexpr int kSpareFd = 500;

// What one run of the helper came to.
struct HelperEnd {
  int wait_status = -1;
  bool did_something = false;
};

// Everything a launch frame refers to, real and open.
class FrameRig {
 public:
  FrameRig()
      : status_(std::move(StatusView::create()).value()),
        pipe_(std::move(process::make_pipe()).value()),
        sockets_(std::move(process::make_seqpacket_pair()).value()),
        probe_(open_probe_program()),
        helper_(std::move(process::open_file(AASM_HELPER, O_PATH)).value()) {}

  FrameDescriptors own() const {
    return {status_.fd().get(), pipe_.write_end.get(), sockets_.theirs.get()};
  }

  FrameSpec launch_spec() {
    FrameSpec spec = probe_.spec({"exit", "0"});
    add_rest(spec);
    return spec;
  }
  FrameSpec probe_role_spec() {
    FrameSpec spec;
    spec.role = wire::Role::kProbe;
    spec.descriptors = {1, 2};
    add_rest(spec);
    return spec;
  }

  // Starts the helper on `frame`, lets it run to its end, or to its first rendezvous when the frame
  // is sound, and then ends it by closing the socket.
  HelperEnd run(const Fd& frame, const std::vector<std::string>& extra_args = {},
                int extra_fd = kSpareFd + 1, const std::string& suffix = "") {
    process::SpawnRequest request;
    request.program = helper_.borrow();
    request.argv = {"helper", std::to_string(frame.get()) + suffix};
    request.argv.insert(request.argv.end(), extra_args.begin(), extra_args.end());
    for (const int fd :
         {1, 2, own().status, own().report, own().socket, frame.get(), probe_.fd.get()}) {
      request.descriptors.push_back({fd, fd});
    }
    request.descriptors.push_back({kSpareFd, helper_.get()});
    request.descriptors.push_back({extra_fd, extra_fd > kSpareFd ? helper_.get() : extra_fd});
    request.signals = process::SpawnSignals::kBlockAll;
    const auto helper = std::move(process::spawn(request)).value();
    sockets_.theirs.reset();
    const bool started = backend_native::receive_message(sockets_.ours.borrow()).has_value();
    if (started && extra_fd > kSpareFd) {
      wait_for_controls();
    }
    sockets_.ours.reset();
    HelperEnd end;
    ::waitpid(helper.pid, &end.wait_status, 0);
    end.did_something = started || ::access(made_.c_str(), F_OK) == 0 ||
                        status_.state(wire::Step::kWarden) != wire::StepState::kPending;
    return end;
  }

  bool made_directory() const { return ::access(made_.c_str(), F_OK) == 0; }

 private:
  void add_rest(FrameSpec& spec) {
    ScriptCalls script;
    script.add(SYS_mkdirat, {{wire::ArgKind::kValue, static_cast<std::uint64_t>(AT_FDCWD)},
                             script.text(made_),
                             {wire::ArgKind::kValue, 0700}});
    script.add(SYS_getpid, {{wire::ArgKind::kResult, 0}, {wire::ArgKind::kScratch, 0}});
    script.fill(spec);
    spec.rlimits = {{kResourceCore, 0, 0, 0}};
    spec.environment = spec.role == wire::Role::kLaunch ? std::vector<std::string>{"A=1"}
                                                        : std::vector<std::string>{};
  }
  void wait_for_controls() const {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (status_.state(wire::Step::kControls) != wire::StepState::kDone &&
           status_.state(wire::Step::kExec) == wire::StepState::kPending &&
           std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  static constexpr std::uint32_t kResourceCore = 4;

  TempDir dir_;
  std::string made_ = dir_.file("made");
  StatusView status_;
  process::Pipe pipe_;
  process::SocketPair sockets_;
  ProbeProgram probe_;
  Fd helper_;
};

inline FrameHeader& header_of(schema::Bytes& bytes) {
  return *reinterpret_cast<FrameHeader*>(bytes.data());  // NOLINT
}
inline ScriptEntry& entry_of(schema::Bytes& bytes, std::size_t index) {
  return reinterpret_cast<ScriptEntry*>(bytes.data() +  // NOLINT
                                        header_of(bytes).script.offset)[index];
}
inline std::int32_t* descriptors_of(schema::Bytes& bytes) {
  return reinterpret_cast<std::int32_t*>(bytes.data() +  // NOLINT
                                         header_of(bytes).descriptors.offset);
}
inline wire::Rlimit& rlimit_of(schema::Bytes& bytes) {
  return *reinterpret_cast<wire::Rlimit*>(bytes.data() +  // NOLINT
                                          header_of(bytes).rlimits.offset);
}

struct Row {
  const char* name;
  std::function<void(schema::Bytes&)> spoil;
};

enum class Base { kLaunch, kLaunchByPath, kProbe };

inline FrameSpec spec_of(FrameRig& rig, Base base) {
  FrameSpec spec = base == Base::kProbe ? rig.probe_role_spec() : rig.launch_spec();
  if (base == Base::kLaunchByPath) {
    spec.exec_fd = -1;
    spec.exec_path = AASM_LAUNCH_PROBE;
    spec.exec_identity = wire::ExecIdentity{1, 1, 1, 1, 1, 1, 0};
  }
  return spec;
}

inline void expect_refused(const Row& row, Base base) {
  SCOPED_TRACE(row.name);
  FrameRig rig;
  const FrameSpec spec = spec_of(rig, base);
  schema::Bytes bytes = std::move(build_frame(spec, rig.own())).value();
  row.spoil(bytes);
  const Fd frame = std::move(process::make_sealed_memfd("frame", bytes)).value();
  const HelperEnd end = rig.run(frame);
  EXPECT_TRUE(WIFEXITED(end.wait_status));
  EXPECT_EQ(WEXITSTATUS(end.wait_status), wire::kHelperExitStatus);
  EXPECT_FALSE(end.did_something);
}

}  // namespace aasm::test
