#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "aasm/planner/backend.h"
#include "aasm/process/fd.h"
#include "aasm/schema/activity_vocabulary.h"
#include "aasm/schema/record_run.h"
#include "aasm/schema/result.h"

#include "coalesce.h"
#include "filter_spec.h"
#include "phase.h"

namespace aasm::backend_native {

// The broker of a launch: what it judges is in FilterSpec.
struct BrokerSetup {
  process::Fd socket;  // ours, to the broker
  pid_t broker = 0;
};

// How a forbidden call of the canary script was answered.
struct CanaryReport {
  std::int32_t number = 0;
  std::int64_t os_errno = 0;
  schema::ReplyState reply = schema::ReplyState::kAccepted;
};

struct ChannelSetup {
  process::Fd listener;     // of the launch child's filter
  process::Fd report_pipe;  // read end of the child's close-on-exec report pipe; bytes are skipped
  FilterSpec spec;
  CanaryScript script;
  pid_t child = 0;   // the launch child, which nobody has waited for
  pid_t warden = 0;  // where chains of parents end
  BatchLimits limits;
  std::optional<BrokerSetup> broker;  // where FilterSpec::brokers()
};

class ChannelWorker;

// The decision channel of one launch: answers every notified call of the confined tree, in a thread
// of its own, and turns those of the workload into batches. A caller waits for its answer, so no
// call is lost for want of speed; `dropped` counts what the kernel failed to hand over.
//
// Order of use: open(), await_canaries(), release_go(), finish(). All from the session's thread.
// Destroying it stops answering: callers get ENOSYS from then on.
class Channel {
 public:
  // Starts answering. Takes a pidfd of the child. The errno of a failure is in the error.
  static schema::Result<std::unique_ptr<Channel>> open(ChannelSetup setup);

  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  ~Channel();

  // Waits until the child has run its script and asks for the program; yields what the channel saw
  // of the forbidden call. In `on_denial: kill` that call is refused with its errno, or nobody
  // could go on. kUnavailable: the time ran out, or the child ended. kIntegrity: the child made a
  // call that belongs to neither script nor helper; it has been killed (see failure()).
  schema::Result<std::vector<CanaryReport>> await_canaries(std::chrono::milliseconds timeout);

  // Answers the child's withheld rendezvous: the program starts. `emit` is called from the
  // channel's thread until finish() returns. kUnavailable when the child is gone.
  schema::Result<void> release_go(planner::ActivityEmitter emit);

  // poll(2) readable once the channel's thread has ended: no confined thread is left, or the
  // channel has failed.
  int ended_fd() const;

  // Whether it has.
  bool ended() const;

  // Waits until the events so far have been emitted, at most `patience`.
  void flush(std::chrono::milliseconds patience);

  // From now on the end of the broker is no failure: the tree is about to be killed.
  void expect_end();

  // What ended the launch or the channel, if anything of ours did.
  std::optional<planner::LaunchFailure> failure() const;

  // Whether a denial killed the program itself (not one of its descendants).
  bool killed_program() const;

  // Waits at most `grace` for the last confined thread to end, then answers what is pending and
  // ends the thread. Emits the last batches. Totals say closed only when no thread was left and
  // nothing failed.
  schema::ChannelTotals finish(std::chrono::milliseconds grace);

  // Counts are those of finish(); before it, only says that the channel is open.
  schema::ChannelTotals totals() const;

 private:
  explicit Channel(std::unique_ptr<ChannelWorker> worker);

  std::unique_ptr<ChannelWorker> worker_;
};

}  // namespace aasm::backend_native
