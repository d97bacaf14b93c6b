#include "audit_witness.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <time.h>

#include <array>
#include <cerrno>
#include <utility>

#include "landlock_uapi.h"
#include "masked_thread.h"

namespace aasm::backend_native {
namespace {

using schema::Error;
using schema::ErrorCode;
using schema::Result;
using schema::WitnessReported;
using schema::WitnessState;
using std::chrono::milliseconds;

// Measured: a denial is told within 0.1 ms, the end of a domain 50 to 80 ms after its last process.
constexpr milliseconds kHearingPatience(250);
constexpr milliseconds kEndPatience(1000);

// The clock that audit stamps its records with.
std::int64_t coarse_now_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1000000;
}

void await_tick(std::int64_t since) {
  const timespec pause{0, 500000};
  for (int tries = 0; coarse_now_ms() == since && tries < 100; ++tries) {
    ::nanosleep(&pause, nullptr);
  }
}

}  // namespace

std::unique_ptr<AuditWitness> AuditWitness::open(schema::WitnessWish wish,
                                                 std::int64_t landlock_abi) {
  std::unique_ptr<AuditWitness> witness(new AuditWitness(wish));
  const Result<void> connected = witness->connect(landlock_abi);
  if (!connected) {
    witness->reason_ = connected.error().message();
    witness->link_.reset();
    witness->switch_.reset();
  }
  return witness;
}

AuditWitness::~AuditWitness() {
  stop();
}

Result<void> AuditWitness::connect(std::int64_t landlock_abi) {
  if (landlock_abi < landlock::kLogFlagsAbi) {
    return Error(ErrorCode::kUnsupported,
                 "this kernel's Landlock tells audit nothing (it takes ABI " +
                     std::to_string(landlock::kLogFlagsAbi) + ")");
  }
  link_ = AASM_TRY(AuditLink::listen());
  switch_.emplace(AASM_TRY(AuditSwitch::open(wish_)));
  stop_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  return stop_ ? Result<void>() : process::system_error("listening to audit", errno);
}

void AuditWitness::follow(pid_t launch_child) {
  if (!link_) {
    return;
  }
  tally_.emplace(launch_child);
  const Result<pthread_t> thread = start_masked_thread(&AuditWitness::run, this);
  if (thread) {
    thread_ = *thread;
  } else {
    reason_ = thread.error().message();
  }
}

void* AuditWitness::run(void* self) {
  static_cast<AuditWitness*>(self)->listen();
  return nullptr;
}

void AuditWitness::listen() {
  std::array<pollfd, 2> waits{{{link_->fd(), POLLIN, 0}, {stop_.get(), POLLIN, 0}}};
  while ((waits[1].revents & POLLIN) == 0) {
    if (::poll(waits.data(), waits.size(), -1) < 0 && errno != EINTR) {
      return;
    }
    const std::lock_guard lock(mutex_);
    const bool all = link_->receive([this](std::uint16_t type, std::string_view text) {
      if (const auto record = audit::read_record(type, text)) {
        tally_->add(*record);
      }
    });
    if (!all) {
      tally_->note_overrun();
    }
    changed_.notify_all();
  }
}

void AuditWitness::stop() {
  if (thread_) {
    raise_event(stop_);
    ::pthread_join(*thread_, nullptr);
    thread_.reset();
  }
}

void AuditWitness::mark_start() {
  if (!thread_) {
    return;
  }
  std::unique_lock lock(mutex_);
  const bool heard =
      changed_.wait_for(lock, kHearingPatience, [this] { return tally_->before_start() > 0; });
  if (!heard) {
    reason_ = "no refusal that the canaries met was heard of";
    return;
  }
  const std::int64_t now = coarse_now_ms();
  tally_->start_after(now);
  lock.unlock();
  await_tick(now);
}

WitnessReported AuditWitness::unavailable() const {
  WitnessReported report;
  report.reason = reason_.empty() ? "it was not asked before the start" : reason_;
  return report;
}

WitnessReported AuditWitness::finish() {
  WitnessReported report;
  if (thread_ && reason_.empty()) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kEndPatience, [this] { return tally_->all_ended(); });
  }
  stop();
  const auto now = switch_ ? AuditLink::status() : Result<AuditStatus>(AuditStatus{});
  if (reason_.empty() && tally_ && now) {
    report = tally_->report();
    report.state = WitnessState::kHeard;
    report.lost = static_cast<std::uint32_t>(now->lost - switch_->before().lost);
    report.enabled_at_end = now->enabled != 0;
  } else {
    reason_ = reason_.empty() && !now ? now.error().message() : reason_;
    report = unavailable();
  }
  report.wish = wish_;
  report.enabled_by_aasm = switch_ && switch_->switched_on();
  switch_.reset();
  return report;
}

}  // namespace aasm::backend_native
