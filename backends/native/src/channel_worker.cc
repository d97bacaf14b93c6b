#include "channel_worker.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "aasm/process/pidfd.h"

#include "masked_thread.h"
#include "process_limits.h"
#include "syscall_names.h"

namespace aasm::backend_native {
using schema::Error;
using schema::ReplyState;
using schema::Result;
using Clock = Coalescer::Clock;

ChannelWorker::ChannelWorker(Listener listener, ChannelSetup setup,
                             std::unique_ptr<Resolver> resolver)
    : listener_(std::move(listener)),
      report_pipe_(std::move(setup.report_pipe)),
      spec_(std::move(setup.spec)),
      script_(std::move(setup.script)),
      child_pid_(setup.child),
      attribution_(setup.warden, Attribution::capacity_for(own_limit(RLIMIT_NOFILE).soft)),
      processes_(spec_.ceiling, setup.warden, setup.child),
      signal_scope_(setup.warden, setup.broker ? setup.broker->broker : 0),
      coalescer_(setup.limits),
      resolver_(std::move(resolver)) {
  state_.totals.present = true;
  state_.totals.opened = true;
  if (resolver_) {
    receive_calls_ =
        std::make_unique<ReceiveCalls>(listener_, resolver_->clients(), resolver_->responder());
  }
  if (setup.broker) {
    broker_.emplace(std::move(setup.broker->socket));
    broker_rights_.emplace(setup.broker->broker);
    broker_placement_.emplace(setup.broker->broker);
    const BrokerCallsSetup calls{*broker_,        setup.broker->broker, setup.warden,
                                 *broker_rights_, attribution_,         listener_};
    if (spec_.judges_binds() || spec_.ipc.brokers()) {
      broker_calls_ = std::make_unique<BrokerCalls>(calls, spec_.network, spec_.ipc, spec_.files,
                                                    spec_.observing,
                                                    resolver_ ? &resolver_->clients() : nullptr);
    }
    if (spec_.files.judges()) {
      file_calls_ = std::make_unique<FileCalls>(calls, spec_.files);
    }
  }
}

Result<std::unique_ptr<ChannelWorker>> ChannelWorker::start(ChannelSetup setup) {
  Listener listener =
      AASM_TRY_CONTEXT(Listener::open(std::move(setup.listener)), "opening the channel");
  process::Fd child = AASM_TRY(process::pidfd_open(setup.child));
  std::unique_ptr<Resolver> resolver = AASM_TRY(Resolver::start(setup.spec.network));
  if (resolver) {
    setup.spec.network.responder = resolver->responder();
    setup.spec.network.given = resolver->given();
  }
  std::unique_ptr<ChannelWorker> worker(
      new ChannelWorker(std::move(listener), std::move(setup), std::move(resolver)));
  worker->child_ = std::move(child);
  worker->stop_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  worker->wake_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  worker->ended_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!worker->stop_ || !worker->wake_ || !worker->ended_) {
    return process::system_error("making an event descriptor", errno);
  }
  worker->thread_ = AASM_TRY_CONTEXT(start_masked_thread(&ChannelWorker::thread_main, worker.get()),
                                     "the channel");
  return worker;
}

ChannelWorker::~ChannelWorker() {
  stop();
}

void* ChannelWorker::thread_main(void* self) {
  static_cast<ChannelWorker*>(self)->run();
  return nullptr;
}

void ChannelWorker::stop() {
  if (!thread_) {
    return;
  }
  raise_event(stop_);
  ::pthread_join(*thread_, nullptr);
  thread_.reset();
}

void ChannelWorker::wake() const {
  raise_event(wake_);
}

void ChannelWorker::flush_on_request() {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t got = ::read(wake_.get(), &count, sizeof(count));
  coalescer_.flush();
  const std::lock_guard lock(state_.mutex);
  state_.flush_wanted = false;
  state_.changed.notify_all();
}

void ChannelWorker::run() {
  ask_for_short_slices();
  Turn turn = Turn::kAgain;
  while (turn == Turn::kAgain) {
    turn = wait();
  }
  end_resolver();
  coalescer_.flush();
  end(turn == Turn::kHungUp);
  raise_event(ended_);
}

// What broker and resolver have to say. False: the channel has failed.
bool ChannelWorker::serve_helpers(short listener, short broker) {
  // Without callers there is nothing the broker could still say.
  if (broker_ && (listener & POLLHUP) == 0) {
    if (const Result<void> served = serve_broker(broker); !served) {
      fail("broker", served.error());
      return false;
    }
  }
  if (const Result<void> served = serve_resolver(); !served) {
    fail("resolver", served.error());
    return false;
  }
  return true;
}

ChannelWorker::Turn ChannelWorker::wait() {
  std::array<pollfd, 6> fds = {{{listener_.fd(), POLLIN, 0},
                                {stop_.get(), POLLIN, 0},
                                {report_pipe_.get(), POLLIN, 0},  // -1 is passed over
                                {wake_.get(), POLLIN, 0},
                                {broker_ ? broker_->fd() : -1, broker_poll_events(), 0},
                                {resolver_ ? resolver_->fd() : -1, POLLIN, 0}}};
  const int ready = ::poll(fds.data(), fds.size(), poll_timeout());
  if (ready < 0 && errno != EINTR) {
    fail("channel", process::system_error("waiting for notifications", errno));
    return Turn::kStop;
  }
  if (!serve_helpers(fds[0].revents, fds[4].revents)) {
    return Turn::kStop;
  }
  if (ready > 0 && fds[3].revents != 0 && (fds[0].revents & POLLIN) == 0) {
    flush_on_request();
  } else if (ready > 0 && (fds[0].revents & POLLIN) != 0) {
    const Result<void> served = serve_one();
    if (!served) {
      coalescer_.count_dropped(Clock::now());
      fail("channel", served.error());
      return Turn::kStop;
    }
  } else if (ready > 0 && (fds[0].revents & (POLLHUP | POLLERR | POLLNVAL)) != 0) {
    return Turn::kHungUp;
  } else if (ready > 0 && (fds[1].revents & POLLIN) != 0) {
    return Turn::kStop;
  } else if (ready > 0 && fds[2].revents != 0) {
    note_report_pipe();
  }
  if (coalescer_.deadline()) {
    coalescer_.flush_if_due(Clock::now());
  }
  return Turn::kAgain;
}

// Before each event: a caller that is blocked in a call cannot be executing, so what the pipe says
// after the notification arrived is what it said when the call was made.
void ChannelWorker::note_report_pipe() {
  std::array<char, 64> bytes{};
  for (;;) {
    pollfd pipe = {report_pipe_.get(), POLLIN, 0};
    if (!report_pipe_ || ::poll(&pipe, 1, 0) <= 0) {
      return;
    }
    const ssize_t got = ::read(report_pipe_.get(), bytes.data(), bytes.size());
    if (got > 0 || (got < 0 && errno == EINTR)) {
      continue;
    }
    report_pipe_.reset();
    const std::lock_guard lock(state_.mutex);
    if (state_.phase == Phase::kHandover) {
      state_.phase = Phase::kWorkload;
      coalescer_.set_emitter(std::exchange(state_.emit, nullptr));
    }
    state_.changed.notify_all();
    return;
  }
}

Phase ChannelWorker::current_phase() {
  const std::lock_guard lock(state_.mutex);
  return state_.phase;
}

Result<void> ChannelWorker::serve_one() {
  if (!AASM_TRY(listener_.receive())) {
    return {};
  }
  note_report_pipe();
  const seccomp_notif call = listener_.call();
  const Phase phase = current_phase();
  if (phase == Phase::kWorkload) {
    return serve_workload(call);
  }
  return serve_launch(call, phase);
}

Result<void> ChannelWorker::serve_workload(const seccomp_notif& call) {
  const auto now = Clock::now();
  coalescer_.flush_if_due(now);
  // The kernel reads what is judged here from registers, which a blocked caller cannot change.
  if (creates_process(call.data, spec_) && processes_.admits(static_cast<pid_t>(call.pid))) {
    AASM_TRY(listener_.let_run(call.id));
    return {};
  }
  if (receive_calls_ && receives(call.data, spec_)) {
    return receive_calls_->begin(call);
  }
  Caller caller = attribution_.identify(static_cast<pid_t>(call.pid));
  const bool blocked = listener_.still_blocked(call.id);
  if (!blocked && !caller.certain) {
    caller = {};  // whatever was read may be of somebody who was given the number since
  }
  Classification verdict = classify({call.data, call.pid, caller.pid}, spec_);
  if (verdict.seen) {
    record_seen(caller, call, blocked, std::move(*verdict.seen));
  }
  if (verdict.answer == AnswerKind::kBroker) {
    return serve_by_broker(call, std::move(caller));
  }
  if (verdict.answer == AnswerKind::kUnlessInside && is_inside(call, &verdict.event)) {
    AASM_TRY(listener_.let_run(call.id));
    return {};
  }
  schema::Event& event = verdict.event;
  if (spec_.observing.lets_through(event)) {
    verdict.answer = AnswerKind::kContinue;
    event = seen(std::move(event));
  }
  complete(caller, static_cast<pid_t>(call.pid), blocked && verdict.recorded, &event);
  event.reply = blocked ? AASM_TRY(answer(call, &verdict)) : ReplyState::kCallerGone;
  if (verdict.recorded) {
    record(std::move(event), now);
  }
  return {};
}

void ChannelWorker::fail(std::string step, const Error& error) {
  const std::lock_guard lock(state_.mutex);
  if (!state_.failure) {
    planner::LaunchFailure failure;
    failure.step = std::move(step);
    failure.detail = error.message();
    failure.os_errno = error.os_errno();
    state_.failure = std::move(failure);
  }
  state_.changed.notify_all();
}

void ChannelWorker::end(bool hung_up) {
  const std::lock_guard lock(state_.mutex);
  // Also where nobody is left: an open file keeps the credentials of who opened it, and with them
  // the Landlock domain, whose end the kernel's audit tells (AuditWitness).
  listener_.close();
  schema::ChannelTotals totals = coalescer_.totals();
  totals.present = true;
  totals.opened = true;
  totals.closed = hung_up && !state_.failure;
  state_.totals = totals;
  state_.ended = true;
  state_.changed.notify_all();
}

}  // namespace aasm::backend_native
