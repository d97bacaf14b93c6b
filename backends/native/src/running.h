#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "aasm/planner/backend.h"
#include "aasm/process/fd.h"

#include "audit_witness.h"
#include "channel.h"
#include "helper_client.h"
#include "memory_group.h"
#include "program_end.h"

namespace aasm::backend_native {

// Holds batches back until it is opened, then passes them on in order. The program runs as soon as
// it is detached, and its first denials must not come before the session has written
// process.started. Any thread.
class EmitGate {
 public:
  explicit EmitGate(planner::ActivityEmitter emit) : emit_(std::move(emit)) {}

  void emit(schema::RecordBody body);
  void open();

 private:
  std::mutex mutex_;
  planner::ActivityEmitter emit_;
  bool open_ = false;
  std::vector<schema::RecordBody> held_;
};

// The program at work in its boundary. Batches reach the emitter once the session has asked for
// exit_fd() or finish(). When the warden dies, the tree is killed by this process, to which it
// falls as subreaper, and the run ends as evidence_failure: nobody knows any more what of the tree
// was left alone. Destroying it kills the tree. Session's thread only.
class NativeRunning final : public planner::RunningExecution {
 public:
  struct Parts {
    schema::ProcessStarted started;
    HelperClient helper;
    std::unique_ptr<Channel> channel;
    std::shared_ptr<EmitGate> gate;
    MemoryGroup memory;
    std::unique_ptr<AuditWitness> witness;  // where policy asks for one
    EndWatch watch;                         // of the helper's exit_fd() and the channel
  };
  explicit NativeRunning(Parts parts);

  const schema::ProcessStarted& started() const override { return started_; }
  int exit_fd() const override;
  planner::ProgramState take_state() override;
  schema::Result<void> send_signal(int signal) override;
  void terminate(schema::ExitCause cause) override;
  schema::Result<schema::ProcessExited> finish() override;
  schema::ChannelTotals channel() const override { return channel_->totals(); }
  schema::Error fault() const override;

 private:
  void kill_tree();
  schema::ProcessExited end_of(const std::optional<ChildExit>& exit) const;
  schema::ExitCause cause_of(const std::optional<ChildExit>& exit) const;

  schema::ProcessStarted started_;
  std::chrono::steady_clock::time_point started_at_;
  MemoryGroup memory_;                // outlives the tree
  std::unique_ptr<Channel> channel_;  // outlives the helper: its tree is killed while answered
  HelperClient helper_;
  std::shared_ptr<EmitGate> gate_;
  std::unique_ptr<AuditWitness> witness_;
  EndWatch watch_;
  std::optional<schema::ExitCause> forced_cause_;
  std::int64_t descendants_killed_ = 0;
  std::optional<schema::Error> tree_error_;
  std::optional<schema::Error> warden_error_;
};

}  // namespace aasm::backend_native
