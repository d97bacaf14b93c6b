#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "aasm/planner/action.h"
#include "aasm/planner/execution_spec.h"
#include "aasm/schema/record.h"
#include "aasm/schema/result.h"

namespace aasm::planner {

// Things of ours the workload must not reach. Absolute paths; a missing one is not an error.
struct ProtectedPaths {
  std::string home;                     // $AASM_HOME
  std::string canary_dir;               // $AASM_HOME/canary: our own objects for canaries
  std::vector<std::string> unreadable;  // ledger, keys, trust: neither read nor write
  std::vector<std::string> unwritable;  // policy in use, helper, aasm, control groups
  std::vector<std::string> groups;      // which of these are control groups
};

// What a probe needs. The scratch directory is ours, empty, writable, outside any workload's reach.
struct ProbeRequest {
  schema::HostConditions conditions;
  std::string helper_path;
  std::string scratch_dir;
};

// What prepare() needs beside the plan. Descriptors are borrowed for the call.
struct LaunchRequest {
  ExecutionSpec spec;
  schema::PlanResolved plan;
  std::vector<std::string> argv;         // argv[0] as the caller gave it
  std::vector<std::string> environment;  // "NAME=value", already reduced to what policy delegates
  std::vector<int> descriptors;          // numbers that stay open across exec
  ProtectedPaths protect;
  std::string helper_path;
  std::uint64_t signal_mask = 0;  // blocked in the program; bit n-1 is signal n
  // Takes the control.prepared records as soon as all of it is installed, before the canaries; so
  // that they are signed meanwhile. Empty: they come with the report.
  std::function<void(schema::ControlPrepared)> on_installed = {};
};

// Why a launch ended before the program ran: becomes the ending of run.closed.
struct LaunchFailure {
  schema::RunEnding ending = schema::RunEnding::kPrepareFailed;
  std::string step;    // helper step or canary id
  std::string detail;  // one sentence for a person
  int os_errno = 0;
};

// What prepare() did, as records. With `failure` the program must not be started.
struct PreparationReport {
  std::vector<schema::ControlPrepared> control;  // one, or several parts; none if handed out before
  std::vector<schema::BoundaryProved> proved;    // empty when a step before the canaries failed
  std::optional<LaunchFailure> failure;
  // How long the program may run by the monotonic clock; the session ends it then. Counted from
  // started().
  std::optional<std::chrono::seconds> wall_clock;
};

// Between SIGTERM to a program whose wall clock is over and the end of its tree.
inline constexpr std::chrono::seconds kWallClockGrace{2};

// What became of a program: it has ended (or what watched it has failed), it was stopped by a
// signal, or neither.
struct ProgramState {
  bool ended = false;
  int stop_signal = 0;  // 0: it was not stopped
};

// A program that runs inside the boundary. Destroying it kills what is left of the tree.
// Session's thread only, but for the emitter, which the channel's thread calls.
class RunningExecution {
 public:
  RunningExecution() = default;
  RunningExecution(const RunningExecution&) = delete;
  RunningExecution& operator=(const RunningExecution&) = delete;
  virtual ~RunningExecution() = default;

  virtual const schema::ProcessStarted& started() const = 0;

  // poll(2) readable once the program has stopped or ended, or the warden or the channel has
  // failed.
  virtual int exit_fd() const = 0;

  // After exit_fd() became readable: what it was. When the program has stopped, its events so far
  // have been emitted. Stops and their ends that lie further back are left out.
  virtual ProgramState take_state() = 0;

  // Delivers a signal to the program (not to its descendants).
  virtual schema::Result<void> send_signal(int signal) = 0;

  // Kills the whole tree; the later finish() reports `cause`.
  virtual void terminate(schema::ExitCause cause) = 0;

  // After exit_fd() became readable: kills descendants that are left, answers what is still
  // pending, emits the last batches and closes the channel. Blocks until the tree is gone.
  virtual schema::Result<schema::ProcessExited> finish() = 0;

  // Final after finish().
  virtual schema::ChannelTotals channel() const = 0;

  // After a finish() with the cause evidence_failure, when no terminate() gave it: what of the
  // boundary failed.
  virtual schema::Error fault() const = 0;
};

struct StartOutcome {
  std::unique_ptr<RunningExecution> running;  // null when failure is set
  std::optional<LaunchFailure> failure;
};

// Receives DecisionBatch and ObservationBatch records, in order, from the channel's thread, until
// finish() returns. Must not block on the disk.
using ActivityEmitter = std::function<void(schema::RecordBody)>;

// A boundary that is installed around a process that has not yet executed the program. Destroying
// it without start() kills that process; the program never runs.
class PreparedExecution {
 public:
  PreparedExecution() = default;
  PreparedExecution(const PreparedExecution&) = delete;
  PreparedExecution& operator=(const PreparedExecution&) = delete;
  virtual ~PreparedExecution() = default;

  virtual const PreparationReport& report() const = 0;

  // Lets the program execute. Precondition: report().failure is empty and the records of
  // report() are durable.
  virtual schema::Result<StartOutcome> start(ActivityEmitter emit) = 0;
};

// One isolation mechanism. Adding one touches its own folder and one line of cli/backends.cc.
// No member retries without the boundary. Session's thread only.
class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  virtual schema::BackendIdentity identity() const = 0;

  // The isolation class this backend realises.
  virtual schema::IsolationClass isolation_class() const = 0;

  // Implemented, but its conformance tests have not passed on this platform: every claim of its
  // runs then reads `experimental` (docs/spec/product.md section 5, rule 0).
  virtual bool experimental() const = 0;

  // Measures what this host gives: controlled pairs, the inside half from a grandchild. A mechanism
  // that is missing makes `available` false or a domain unsupported, never an Error; an Error means
  // that nothing could be measured.
  virtual schema::Result<schema::CapabilityProbed> probe(const ProbeRequest& request) = 0;

  // `measured` with the report of every domain whose stated requirement this backend cannot lower
  // replaced by unsupported(reason). Pure.
  virtual schema::CapabilityProbed narrow(const ExecutionSpec& spec,
                                          schema::CapabilityProbed measured) const = 0;

  // What prepare() will install for `spec`, one sentence each, in order. Pure; part of the plan's
  // digest.
  virtual std::vector<std::string> steps(const ExecutionSpec& spec) const = 0;

  // What the boundary that prepare() would install for `spec` makes of one action: computed from
  // what is installed, so that it says no more and no less than the kernel will. Pure.
  virtual ActionView view(const ExecutionSpec& spec, const Action& action) const = 0;

  // Installs the boundary around a waiting process and proves it with this run's canaries.
  // A failing step or canary is in the report; an Error means no process exists.
  virtual schema::Result<std::unique_ptr<PreparedExecution>> prepare(
      const LaunchRequest& request) = 0;
};

}  // namespace aasm::planner
