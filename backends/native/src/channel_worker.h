#pragma once

#include <pthread.h>
#include <signal.h>

#include <cerrno>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "attribution.h"
#include "broker_calls.h"
#include "broker_placement.h"
#include "channel.h"
#include "classify.h"
#include "file_calls.h"
#include "listener.h"
#include "pace.h"
#include "process_count.h"
#include "resolver.h"
#include "resolver_receive.h"
#include "signal_target.h"

namespace aasm::backend_native {

// What session and channel thread share; every member under `mutex`.
struct ChannelState {
  std::mutex mutex;
  std::condition_variable changed;
  Phase phase = Phase::kCanary;
  std::optional<std::uint64_t> withheld;  // notification of the rendezvous that waits for go
  std::vector<CanaryReport> reports;
  planner::ActivityEmitter emit;
  std::optional<planner::LaunchFailure> failure;
  schema::ChannelTotals totals;
  bool killed_program = false;
  bool flush_wanted = false;
  bool ending = false;  // the broker may be gone
  bool ended = false;
};

// What a canary is answered that policy does not refuse: no canary expects it.
inline constexpr int kNoRefusal = EIO;

// The thread of a Channel. The public members belong to the session's thread, all else runs in the
// thread they start.
class ChannelWorker {
 public:
  static schema::Result<std::unique_ptr<ChannelWorker>> start(ChannelSetup setup);
  ChannelWorker(const ChannelWorker&) = delete;
  ChannelWorker& operator=(const ChannelWorker&) = delete;
  ~ChannelWorker();

  ChannelState& state() { return state_; }
  int ended_fd() const { return ended_.get(); }
  // Answers the withheld rendezvous with 0; false when the child is gone.
  schema::Result<bool> answer_withheld(std::uint64_t id) const { return listener_.answer_zero(id); }
  // Makes the thread look at `flush_wanted`.
  void wake() const;
  // Makes the thread answer what is pending and end; returns when it has.
  void stop();

 private:
  enum class Turn : std::uint8_t { kAgain, kHungUp, kStop };

  ChannelWorker(Listener listener, ChannelSetup setup, std::unique_ptr<Resolver> resolver);
  schema::Result<void> launch_thread();
  static void* thread_main(void* self);
  void run();
  Turn wait();
  bool serve_helpers(short listener, short broker);
  schema::Result<void> serve_one();
  void note_report_pipe();
  void flush_on_request();
  Phase current_phase();
  // channel_launch.cc: before the program.
  schema::Result<void> serve_launch(const seccomp_notif& call, Phase phase);
  schema::Result<void> serve_canary(const seccomp_notif& call);
  schema::Result<void> serve_workload(const seccomp_notif& call);
  void record_seen(const Caller& caller, const seccomp_notif& call, bool blocked,
                   schema::Event event);
  EventKind kind_of(const schema::Event& event) const;
  // channel_broker.cc: the calls that the broker makes.
  schema::Result<schema::ReplyState> refuse_brokered_canary(const seccomp_notif& call,
                                                            std::int64_t* os_errno);
  schema::Result<void> serve_by_broker(const seccomp_notif& call, Caller caller);
  bool is_brokered(const seccomp_notif& call) const;
  void begin_brokered(const seccomp_notif& call, Caller caller);
  schema::Result<void> serve_broker(short revents);
  // channel_ipc.cc
  bool is_inside(const seccomp_notif& call, schema::Event* event);
  schema::Result<void> receive_answers();
  std::vector<FinishedCall> take_finished();
  schema::Result<void> answer_finished();
  schema::Result<void> answer_finished_call(FinishedCall call);
  schema::Result<bool> give_answer(FinishedCall* call) const;
  schema::Result<schema::ReplyState> reply_to(FinishedCall* call);
  bool broker_has_calls() const;
  short broker_poll_events() const;
  int poll_timeout() const;
  // channel_resolver.cc
  schema::Result<void> serve_resolver();
  void end_resolver();
  void record_lookups();
  void complete(const Caller& caller, pid_t tid, bool blocked, schema::Event* event);
  std::vector<std::int64_t> parents_of(const Caller& caller, const schema::Event& event,
                                       Coalescer::Clock::time_point now);
  void record(schema::Event event, Coalescer::Clock::time_point now);
  schema::Result<schema::ReplyState> answer(const seccomp_notif& call, Classification* verdict);
  schema::Result<schema::ReplyState> kill_caller(std::uint64_t notification, schema::Event* event,
                                                 std::int64_t fallback_errno);
  schema::Result<void> end_launch(const seccomp_notif& call, Phase phase);
  void fail(std::string step, const schema::Error& error);
  void end(bool hung_up);

  Listener listener_;
  process::Fd report_pipe_;  // empty once its end was seen
  process::Fd child_;        // pidfd
  process::Fd stop_;         // eventfd
  process::Fd wake_;         // eventfd
  process::Fd ended_;        // eventfd
  FilterSpec spec_;
  CanaryScript script_;
  pid_t child_pid_;
  Attribution attribution_;
  struct {
    std::int64_t pid = 0;
    Coalescer::Clock::time_point at{};
    std::vector<std::int64_t> parents;
  } last_chain_;
  ProcessCount processes_;
  SignalScope signal_scope_;
  Coalescer coalescer_;
  Pace pace_;
  std::unique_ptr<Resolver> resolver_;           // empty where no name may be looked up
  std::unique_ptr<ReceiveCalls> receive_calls_;  // with it
  // Empty without a broker.
  std::optional<BrokerClient> broker_;
  std::optional<BrokerRights> broker_rights_;
  std::optional<BrokerPlacement> broker_placement_;
  std::unique_ptr<BrokerCalls> broker_calls_;  // where sockets are judged
  std::unique_ptr<FileCalls> file_calls_;      // where files are
  Coalescer::Clock::time_point callers_looked_at_;
  ChannelState state_;
  std::optional<pthread_t> thread_;
};

}  // namespace aasm::backend_native
