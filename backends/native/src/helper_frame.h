#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "aasm/process/exec_target.h"
#include "aasm/schema/digest.h"
#include "aasm/schema/result.h"
#include "aasm/wire/helper_wire.h"

// From a launch as the supervisor sees it to the bytes of the helper's frame (aasm/wire/frame.h).
namespace aasm::backend_native {

// What capabilities the program may keep, when any are to be taken.
struct CapabilityCut {
  std::uint64_t keep = 0;     // bit n is capability n
  bool bounding_set = false;  // the bounding set too: needs CAP_SETPCAP, as root has it
};

// Everything the helper is to do. Descriptors are numbers of this process, borrowed; the helper
// gets them under the same numbers.
struct FrameSpec {
  wire::Role role = wire::Role::kLaunch;
  std::vector<std::string> argv;         // launch: at least one
  std::vector<std::string> environment;  // "NAME=value"
  int exec_fd = -1;                      // launch: an ELF program to execute by descriptor,
  std::string exec_path;                 // or a path
  std::optional<wire::ExecIdentity> exec_identity;  // of exec_path, checked before the filter
  int cwd_fd = -1;                                  // -1: the supervisor's working directory
  std::vector<int> descriptors;                     // what stays open across the exec; any order
  std::vector<wire::Ruleset> rulesets;              // at most kMaxRulesets
  bool broker = false;                              // one in the first of two rulesets
  std::vector<wire::Rlimit> rlimits;
  std::vector<sock_filter> filter;  // launch: required, and it must notify kRendezvousCall
  std::uint32_t seccomp_flags = 0;  // launch: with SECCOMP_FILTER_FLAG_NEW_LISTENER
  std::optional<CapabilityCut> capabilities;
  std::uint64_t signal_mask = 0;      // blocked in the program; bit n-1 is signal n
  std::uint64_t ignored_signals = 0;  // ignored in the program
  std::vector<wire::ScriptEntry> script;
  std::string script_data;       // ended by NUL when not empty
  std::uint32_t fork_depth = 0;  // probe only
};

// The descriptors that supervisor and helper talk over.
struct FrameDescriptors {
  int status = -1;
  int report = -1;
  int socket = -1;
  int broker = -1;  // with FrameSpec::broker
};

// The frame. kInvalidArgument when the spec breaks a rule that only a bug could break,
// kResourceExhausted when it does not fit.
schema::Result<schema::Bytes> build_frame(const FrameSpec& spec, const FrameDescriptors& own);

// What statx(2) must find for the helper to go on with exec_path.
wire::ExecIdentity exec_identity(const process::FileIdentity& file);

// The signal mask of the calling thread and the signals that the process ignores, in the form of
// FrameSpec: what a program would inherit if it were started now.
struct InheritedSignals {
  std::uint64_t mask = 0;
  std::uint64_t ignored = 0;
};
InheritedSignals inherited_signals();

}  // namespace aasm::backend_native
