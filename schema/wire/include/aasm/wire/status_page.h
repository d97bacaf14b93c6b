#pragma once

#include <stdint.h>  // NOLINT(modernize-deprecated-headers): the helper has no C++ library.

#include "aasm/wire/script.h"

// The status page: a memfd of kStatusSize bytes that supervisor, warden and launch child map
// shared. The launch child reports on it with plain stores, so that reporting needs no system call
// once the filter is on. The supervisor creates it (sealed against growing and shrinking, every
// result kNotAttempted, every descriptor -1) and afterwards only reads. The state of a step is
// stored last, with release order: who reads a state with acquire order sees what the step stored
// before it.
namespace aasm::wire {

inline constexpr uint32_t kStatusMagic = 0x534D4141;  // "AAMS"
inline constexpr uint32_t kStatusVersion = 1;
inline constexpr uint32_t kStatusSize = 4096;
inline constexpr uint32_t kMaxSteps = 24;
inline constexpr int64_t kNotAttempted = INT64_MIN;

// The steps in their order. Indexes into StatusPage::steps.
enum class Step : uint32_t {
  kWarden = 0,        // subreaper, signal descriptor, list of children, clone
  kControls,          // control half of the script
  kWorkingDirectory,  // fchdir
  kNoNewPrivs,
  kDescriptors,     // everything not listed closed; detail: the descriptor
  kResourceLimits,  // detail: the resource
  kSignals,         // dispositions and mask; detail: the signal
  kCapabilities,    // detail: the capability whose bounding bit stayed
  kTarget,          // identity of exec_path; ESTALE when it is another file
  kLandlock,        // detail: the ruleset's index
  kBroker,          // the clone of the broker, inside the first ruleset
  kInnerLandlock,   // the second ruleset: the program's alone where there is a broker
  kSeccomp,         // detail: the flags that were used
  kCanaries,        // inside half of the script
  kGo,              // second rendezvous answered
  kExec,            // only ever started or failed: success leaves nobody to report
  kCount,
};

enum class StepState : uint32_t {
  kPending = 0,
  kStarted = 1,
  kDone = 2,
  kFailed = 3,
  kNotRequested = 4,
};

struct StepReport {
  uint32_t state;  // StepState
  int32_t os_errno;
  uint32_t detail;
  uint32_t reserved;
};

struct ScriptResult {
  int64_t control;  // what the call returned: negative errno on failure
  int64_t inside;
};

struct StatusPage {
  uint32_t magic;
  uint32_t version;
  uint32_t size;  // kStatusSize
  int32_t warden_pid;
  int32_t child_pid;
  int32_t inside_pid;    // who ran the inside half: the child, or a descendant of it in a probe
  int32_t listener_fd;   // number in the child, -1 before there is one
  int32_t exec_errno;    // of a failed exec, else 0
  int32_t broker_pid;    // 0 where there is none
  int32_t broker_ready;  // 1 once the broker holds nothing of the launch child's; a futex word
  StepReport steps[kMaxSteps];
  ScriptResult results[kMaxScriptEntries];
};

static_assert(sizeof(StepReport) == 16);
static_assert(sizeof(ScriptResult) == 16);
static_assert(__builtin_offsetof(StatusPage, steps) == 40);
static_assert(sizeof(StatusPage) <= kStatusSize);
static_assert(static_cast<uint32_t>(Step::kCount) <= kMaxSteps);

// The step's name in records and messages.
constexpr const char* step_name(Step step) {
  switch (step) {
    case Step::kWarden:
      return "warden";
    case Step::kControls:
      return "controls";
    case Step::kWorkingDirectory:
      return "working_directory";
    case Step::kNoNewPrivs:
      return "no_new_privs";
    case Step::kDescriptors:
      return "descriptors";
    case Step::kResourceLimits:
      return "resource_limits";
    case Step::kSignals:
      return "signals";
    case Step::kCapabilities:
      return "capabilities";
    case Step::kTarget:
      return "target";
    case Step::kLandlock:
      return "landlock";
    case Step::kBroker:
      return "broker";
    case Step::kInnerLandlock:
      return "landlock_inner";
    case Step::kSeccomp:
      return "seccomp";
    case Step::kCanaries:
      return "canaries";
    case Step::kGo:
      return "go";
    case Step::kExec:
      return "exec";
    case Step::kCount:
      break;
  }
  return "unknown";
}

}  // namespace aasm::wire
