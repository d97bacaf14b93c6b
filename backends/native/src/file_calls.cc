#include "file_calls.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

#include "caller_memory.h"
#include "file_attributes.h"
#include "file_in_flight.h"
#include "file_observe.h"

namespace aasm::backend_native {

using schema::Error;
using schema::ErrorCode;
using schema::Result;
using wire::BrokerFileCall;
using wire::BrokerTurn;

namespace {

// Names that keep changing what they lead to are looked up no more often than this.
constexpr int kMaxTurns = 64;

bool makes_file(const wire::BrokerFile& call) {
  return is_open(call) && (call.flags & O_CREAT) != 0;
}

bool takes_mode(const wire::BrokerFile& call) {
  return makes_file(call) || (is_open(call) && (call.flags & O_TMPFILE) == O_TMPFILE) ||
         call.call == static_cast<std::uint32_t>(BrokerFileCall::kMakeDirectory) ||
         call.call == static_cast<std::uint32_t>(BrokerFileCall::kMakeNode);
}

bool is_truncate(const wire::BrokerFile& call) {
  return call.call == static_cast<std::uint32_t>(BrokerFileCall::kTruncate);
}

void append(BrokerOrder* order, std::uint32_t what, const process::Fd& fd, std::uint32_t* given) {
  if (fd) {
    *given |= what;
    order->rights.push_back(fd.get());
  }
}

}  // namespace

FileCalls::FileCalls(const BrokerCallsSetup& setup, const FileSpec& spec)
    : broker_pid_(setup.broker_pid),
      warden_pid_(setup.warden_pid),
      rights_(setup.rights),
      callers_(setup.callers),
      listener_(setup.listener),
      spec_(spec),
      calls_(setup, 1) {}

FileCalls::~FileCalls() = default;

void FileCalls::cancel_interrupted(Clock::time_point now) {
  calls_.cancel_interrupted(now);
}

void FileCalls::forget(std::uint64_t notification) {
  calls_.forget(notification);
}

void FileCalls::begin(const seccomp_notif& notified, Caller caller) {
  InFlight& call = calls_.add(notified, std::move(caller));
  if (auto request = read_file_request(notified.data)) {
    if (*request) {
      call.request = **request;
    }
    const Result<void> started = *request ? start(call) : Result<void>(request->error());
    if (!started) {
      fail(call, started.error());
    }
  } else {
    fail(call, Error(ErrorCode::kIntegrity, "not a call on files", EPERM));
  }
  calls_.drop_unsure(notified.id);
}

Result<void> FileCalls::start(InFlight& call) {
  wire::BrokerFile& wanted = call.request.call;
  if (call.request.how_address != 0 || call.request.how_size != 0) {
    AASM_TRY(read_open_how(call.tid, &call.request));
  } else if (wanted.call == static_cast<std::uint32_t>(BrokerFileCall::kOpenHow)) {
    return kernel_answer(EINVAL);
  }
  AASM_TRY(read_change(call.tid, &call.request));
  if (call.request.nothing_to_do) {
    finish(call, 0);
    return {};
  }
  AASM_TRY(read_names(call));
  if (is_open(wanted) && (wanted.flags & O_PATH) != 0) {
    // The kernel gives nobody a reference of somebody else's; openat(2) makes one without us.
    return Error(ErrorCode::kUnsupported, "a reference that cannot be handed over", ENOSYS);
  }
  // Of attributes nobody but us judges anything; an execution is the caller's own.
  const bool two_turns =
      (spec_.denies() || changes_attributes(call.request)) && !is_execution(wanted);
  wanted.turn = static_cast<std::uint32_t>(two_turns ? BrokerTurn::kResolve : BrokerTurn::kWhole);
  AASM_TRY(add_caller(call));
  order_names(call);
  dispatch(call);
  return {};
}

// What of the caller the call depends on.
Result<void> FileCalls::add_caller(InFlight& call) {
  wire::BrokerFile& wanted = call.request.call;
  wanted.tgid = static_cast<std::uint32_t>(call.caller.pid);
  wanted.tid = static_cast<std::uint32_t>(call.tid);
  wanted.own[0] = static_cast<std::uint32_t>(::getpid());
  wanted.own[1] = static_cast<std::uint32_t>(warden_pid_);
  if (rights_.may_differ() || takes_mode(wanted)) {
    const std::string text = AASM_TRY(callers_.status(call.tid));
    const CallerStatus status = AASM_TRY(parse_caller_status(text));
    call.order.mode_mask = status.mode_mask;
    AASM_TRY(rights_.give(status, &call.order));
  }
  if (is_truncate(wanted)) {
    rlimit limit{};
    if (::prlimit(call.tid, RLIMIT_FSIZE, nullptr, &limit) != 0) {
      return process::system_error("the caller's limits", errno);
    }
    wanted.limit = limit.rlim_cur;
  }
  return {};
}

void FileCalls::order_names(InFlight& call) {
  BrokerOrder& order = call.order;
  wire::BrokerFile& wanted = call.request.call;
  order.kind = wire::BrokerKind::kFile;
  order.rights.clear();
  wanted.given = 0;
  append(&order, wire::kGivenFirst, call.first_start, &wanted.given);
  append(&order, wire::kGivenSecond, call.second_start, &wanted.given);
  call.set_names(call.first_name, call.second_name,
                 call.request.second.has_value() || call.request.link_text.has_value());
}

void FileCalls::dispatch(InFlight& call) {
  calls_.dispatch(call, [this](InFlight& one) { return try_send(one); });
}

// False: not yet. The call may be gone afterwards.
bool FileCalls::try_send(InFlight& call) {
  // Only a thread that is still blocked was the one that was read and taken from.
  if (!listener_.still_blocked(call.notification)) {
    finish(call, EINTR);
    return true;
  }
  const Result<bool> sent = calls_.send(call);
  if (!sent) {
    fail(call, sent.error());
  }
  return !sent || *sent;
}

Result<void> FileCalls::send_queued() {
  return calls_.send_queued([this](InFlight& call) { return try_send(call); });
}

void FileCalls::accept(BrokerAnswer answer) {
  InFlight* call = calls_.take_answered(answer.call);
  if (call == nullptr) {
    return;
  }
  if (const Result<void> gone_on = go_on(*call, answer); !gone_on) {
    fail(*call, gone_on.error());
  }
}

Result<void> FileCalls::go_on(InFlight& call, BrokerAnswer& answer) {
  const std::int64_t result = answer.result;
  if (answer.fault || result == -EMFILE || result == -ENFILE) {
    return Error(ErrorCode::kUnavailable, "the broker could not make the call",
                 static_cast<int>(-result));
  }
  if (call.interrupted && result == -EINTR) {
    finish(call, kRestart);
    return {};
  }
  FileAnswer file = AASM_TRY(read_file_answer(std::move(answer)));
  if (file.ours) {
    refuse_own(call, file);
    return {};
  }
  const auto turn = static_cast<BrokerTurn>(call.request.call.turn);
  if (turn == BrokerTurn::kResolve && result >= 0) {
    return judge(call, file);
  }
  if (turn == BrokerTurn::kAct && result == -EEXIST && call.judged_as_new) {
    // Somebody made it meanwhile.
    if (++call.turns > kMaxTurns) {
      return Error(ErrorCode::kUnavailable, "a name that keeps changing", EAGAIN);
    }
    call.request.call.turn = static_cast<std::uint32_t>(BrokerTurn::kResolve);
    order_names(call);
    dispatch(call);
    return {};
  }
  if (is_execution(call.request.call)) {
    return end_execution(call, file);
  }
  return end_made(call, file);
}

bool FileCalls::is_above_unknown(const ResolvedFile& file) const {
  return wants_parents(spec_, file.path) && !file.path.empty() && file.parents.empty();
}

// The names are looked up: what they lead to is held by descriptors.
Result<void> FileCalls::judge(InFlight& call, FileAnswer& answer) {
  call.described = name_files(call, answer);  // of what a fault speaks
  call.described = AASM_TRY(describe(call, answer));
  const ResolvedFile& file = call.described.file;
  if (is_above_unknown(file) || (call.described.other && is_above_unknown(*call.described.other))) {
    return Error(ErrorCode::kConflict, "it is no longer where it was found", EACCES);
  }
  if (changes_attributes(call.request) && is_own_process(file.path)) {
    refuse_own(call, answer);
    return {};
  }
  FileVerdict verdict = judge_file(spec_, call.described);
  if (!verdict.perform) {
    const std::int64_t os_errno = verdict.event.os_errno;
    call.events.push_back(std::move(verdict.event));
    finish(call, os_errno);
    return {};
  }
  return make_judged(call, answer);
}

Result<void> FileCalls::make_judged(InFlight& call, FileAnswer& answer) {
  wire::BrokerFile& wanted = call.request.call;
  const bool exists = call.described.file.exists;
  const bool attributes = changes_attributes(call.request);
  const bool on_target = is_open(wanted) || is_truncate(wanted) || attributes;
  if (on_target && !exists && !makes_file(wanted)) {
    return kernel_answer(ENOENT);
  }
  if (makes_file(wanted) && exists && (wanted.flags & O_EXCL) != 0) {
    return kernel_answer(EEXIST);
  }
  if (makes_file(wanted) && exists && call.described.file.directory) {
    return kernel_answer(EISDIR);
  }
  call.judged_as_new = makes_file(wanted) && !exists && (wanted.flags & O_EXCL) == 0;
  wanted.turn = static_cast<std::uint32_t>(BrokerTurn::kAct);
  wanted.given = 0;
  call.order.rights.clear();
  call.held_first = std::move(answer.first);
  call.held_target = std::move(answer.target);
  call.held_second = std::move(answer.second);
  if (attributes) {
    append(&call.order, wire::kGivenTarget, call.held_target, &wanted.given);
    call.set_payload();
    dispatch(call);
    return {};
  }
  append(&call.order, wire::kGivenFirst, call.held_first, &wanted.given);
  append(&call.order, wire::kGivenTarget, call.held_target, &wanted.given);
  append(&call.order, wire::kGivenSecond, call.held_second, &wanted.given);
  const bool two = call.request.second.has_value();
  call.set_names(answer.places[0].last, two ? answer.places[1].last : call.second_name,
                 two || call.request.link_text.has_value());
  dispatch(call);
  return {};
}

// The kernel has answered the broker.
Result<void> FileCalls::end_made(InFlight& call, FileAnswer& answer) {
  const auto os_errno = static_cast<int>(answer.result < 0 ? -answer.result : 0);
  if (static_cast<BrokerTurn>(call.request.call.turn) != BrokerTurn::kAct) {
    // It is over: without room to look further up the names have to do.
    Result<FileCall> described = describe(call, answer);
    call.described = described ? *std::move(described) : name_files(call, answer);
  }
  AASM_TRY(check_terminal(call, answer));
  FileVerdict verdict = judge_outcome(spec_, call.described, os_errno);
  if (verdict.recorded) {
    call.events.push_back(std::move(verdict.event));
  }
  call.opened = std::move(answer.opened);
  if (os_errno == EFBIG && call.request.call.value > call.request.call.limit) {
    call.signal = SIGXFSZ;
  }
  finish(call, os_errno);
  return {};
}

// The broker's kernel has been asked.
Result<void> FileCalls::end_execution(InFlight& call, const FileAnswer& answer) {
  const auto os_errno = static_cast<int>(answer.result < 0 ? -answer.result : 0);
  call.described = name_files(call, answer);
  call.described = AASM_TRY(describe(call, answer));
  if (os_errno == 0 && is_above_unknown(call.described.file)) {
    return Error(ErrorCode::kConflict, "it is no longer where it was found", EACCES);
  }
  FileVerdict verdict = spec_.observes() ? observe_execution(spec_, call.described, os_errno)
                        : os_errno == 0  ? judge_execution(spec_, call.described)
                                         : blame_refusal(spec_, call.described, os_errno);
  const std::int64_t answered = os_errno != 0 ? os_errno : verdict.event.os_errno;
  call.let_run = answered == 0;
  if (verdict.recorded) {
    call.events.push_back(std::move(verdict.event));
  }
  finish(call, answered);
  return {};
}

// The call is not to be used afterwards.
void FileCalls::finish(InFlight& call, std::int64_t os_errno) {
  FinishedCall finished;
  finished.os_errno = os_errno;
  finished.opened = std::move(call.opened);
  finished.close_on_exec = call.request.close_on_exec;
  finished.let_run = call.let_run;
  calls_.finish(call, std::move(finished));
}

}  // namespace aasm::backend_native
