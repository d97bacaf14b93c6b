#include "limit_canaries.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>
#include <utility>

#include "helper_frame.h"

namespace aasm::backend_native {
namespace {

using schema::Domain;
using schema::Purpose;

// A descriptor of this number makes a table of as many in the launch child.
constexpr std::uint64_t kMostDescriptorTried = 65536;
constexpr std::uint64_t kIgnore = 1;  // SIG_IGN

template <std::size_t N>
ScriptArg words(Script& script, const std::array<std::uint64_t, N>& values) {
  std::array<char, sizeof values> bytes{};
  std::memcpy(bytes.data(), values.data(), sizeof values);
  return script.blob({bytes.data(), bytes.size()});
}

ScriptCall call_of(long number, std::vector<ScriptArg> args) {
  ScriptCall call;
  call.number = number;
  call.args = std::move(args);
  return call;
}

#if defined(SYS_fork)
ScriptCall control_only(ScriptCall call) {
  call.when = wire::kWhenControl;
  return call;
}
#endif

class LimitCanaries {
 public:
  LimitCanaries(const CanaryContext& context, CanaryPlan& plan) : context_(context), plan_(plan) {}

  void add() {
    for (const ProcessLimit& limit : context_.limits) {
      if (limit.inherited_hard <= limit.set.hard) {
        add_none(limit, "the host's own limit is no higher, so nothing goes beyond it anyway");
        continue;
      }
      add_raise(limit);
      if (limit.set.resource == RLIMIT_CPU) {
        add_none(limit, "to use up processor time is not harmless");
      } else {
        add_beyond(limit);
      }
    }
    if (const std::optional<MemoryLimit> memory = memory_limit(context_.requirements)) {
      plan_.none.push_back(
          {Domain::kResource, memory->rule + ": to use up memory is not harmless"});
    }
    if (const std::optional<WallClock> clock = wall_clock(context_.requirements)) {
      plan_.none.push_back(
          {Domain::kResource, clock->rule + ": to wait for the wall clock would take the run"});
    }
    if (scratch_) {
      plan_.script.add(call_of(SYS_close, {file()}));
    }
  }

 private:
  void add_canary(std::string id, Purpose purpose, std::string action, const ScriptCall& call,
                  int refusal) {
    ScriptedCanary scripted;
    scripted.canary.id = "resource." + std::move(id);
    scripted.canary.domain = Domain::kResource;
    scripted.canary.purpose = purpose;
    scripted.canary.step = wire::step_name(wire::Step::kResourceLimits);
    scripted.canary.action = std::move(action);
    scripted.entry = plan_.script.add(call);
    scripted.refusals = {refusal};
    scripted.missing_control =
        context_.outer_filter ? MissingControl::kNoCanary : MissingControl::kFails;
    plan_.canaries.push_back(std::move(scripted));
  }

  // To the hard limit of the host: without a boundary this changes the soft limit at most, inside
  // it would raise the hard one. That fails for want of CAP_SYS_RESOURCE, which root has lost by
  // then.
  void add_raise(const ProcessLimit& limit) {
    const std::uint64_t host = limit.inherited_hard;
    add_canary("raise_" + limit.operation, Purpose::kSelfProtection,
               "prlimit64(" + limit.name + ") to the host's hard limit",
               call_of(SYS_prlimit64, {value_arg(0), value_arg(limit.set.resource),
                                       words<2>(plan_.script, {host, host}), value_arg(0)}),
               EPERM);
  }

  void add_beyond(const ProcessLimit& limit) {
    const bool size = limit.set.resource == RLIMIT_FSIZE;
    const auto bound = static_cast<std::int64_t>(limit.set.hard);
    if (!size && limit.set.hard > kMostDescriptorTried) {
      add_none(limit, "a descriptor beyond it would take a table of as many");
    } else if (size) {
      add_write(limit, bound);
    } else {
      add_canary(limit.operation, Purpose::kPolicy,
                 "fcntl(F_DUPFD_CLOEXEC, " + std::to_string(bound) + ") of a memory file",
                 duplicate_call(bound), EINVAL);
    }
  }

  void add_none(const ProcessLimit& limit, const std::string& reason) {
    plan_.none.push_back({Domain::kResource, limit.rule + ": " + reason});
  }

  ScriptCall duplicate_call(std::int64_t number) {
    ScriptCall call = call_of(SYS_fcntl, {file(), value_arg(F_DUPFD_CLOEXEC), value_arg(number)});
    call.returns_descriptor = true;
    return call;
  }

  // The kernel sends SIGXFSZ with the errno. A signal that is blocked is kept even where it is
  // ignored, and setting it to be ignored once more clears it.
  void add_write(const ProcessLimit& limit, std::int64_t bound) {
    const ScriptArg memory = file();
    const ScriptArg ignore = words<4>(plan_.script, {kIgnore, 0, 0, 0});
    const bool ignored = (inherited_signals().ignored >> (SIGXFSZ - 1) & 1U) != 0;
    const ScriptArg before = words<4>(plan_.script, {ignored ? kIgnore : 0, 0, 0, 0});
    const auto dispose = [&](ScriptArg how, std::uint8_t when) {
      ScriptCall call = call_of(SYS_rt_sigaction, {value_arg(SIGXFSZ), how, value_arg(0),
                                                   value_arg(sizeof(std::uint64_t))});
      call.when = when;
      plan_.script.add(call);
    };
    constexpr std::uint8_t kBoth = wire::kWhenControl | wire::kWhenInside;
    dispose(ignore, kBoth);
    add_canary(
        limit.operation, Purpose::kPolicy,
        "pwrite64 of a byte at " + std::to_string(bound) + " of a memory file",
        call_of(SYS_pwrite64, {memory, plan_.script.text("x"), value_arg(1), value_arg(bound)}),
        EFBIG);
    dispose(ignore, kBoth);
    dispose(before, wire::kWhenInside);
  }

  // A file of ours in memory, open until the end of the half.
  ScriptArg file() {
    if (!scratch_) {
      scratch_ = plan_.script.add(
          call_of(SYS_memfd_create, {plan_.script.text("aasm-canary"), value_arg(MFD_CLOEXEC)}));
    }
    return result_arg(*scratch_);
  }

  const CanaryContext& context_;
  CanaryPlan& plan_;
  std::optional<std::uint32_t> scratch_;
};

}  // namespace

void add_limit_canaries(const CanaryContext& context, CanaryPlan& plan) {
  LimitCanaries(context, plan).add();
}

void add_creation_canary(const CanaryContext& context, CanaryPlan& plan) {
  if (!context.filter.ceiling) {
    return;
  }
#if defined(SYS_fork)
  if (number_action(context.filter, SYS_fork) != NumberAction::kCountFork) {
    plan.none.push_back({Domain::kProcessCreation, "fork is refused by a rule on system calls"});
    return;
  }
  ScriptCall fork = call_of(SYS_fork, {});
  fork.exits_in_child = true;
  ScriptedCanary scripted;
  scripted.canary.id = "process_creation.fork";
  scripted.canary.domain = Domain::kProcessCreation;
  scripted.canary.purpose = Purpose::kPolicy;
  scripted.canary.step = wire::step_name(wire::Step::kSeccomp);
  scripted.canary.action = "fork() as if the tree had all the processes it may have";
  scripted.entry = plan.script.add(fork);
  scripted.refusals = {creation_errno(*context.filter.ceiling)};
  scripted.missing_control = MissingControl::kNoCanary;
  scripted.must_be_reported = true;
  plan.forbidden_entries.push_back(scripted.entry);
  plan.script.add(control_only(call_of(
      SYS_wait4, {result_arg(scripted.entry), scratch_arg(0), value_arg(__WALL), value_arg(0)})));
  plan.canaries.push_back(std::move(scripted));
#else
  plan.none.push_back({Domain::kProcessCreation, "this machine has no call that only forks"});
#endif
}

}  // namespace aasm::backend_native
