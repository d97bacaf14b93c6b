#include "channel_worker.h"
#include "scheduling_judge.h"
#include "shared_memory.h"

// The part of the channel's thread that tells what is of the tree (docs/decisions/0022).
namespace aasm::backend_native {

// Whether a call that is refused unless it stays inside does so. Judged by registers; of a
// descriptor, by what it stands for now: Landlock's scope refuses the signal itself if that has
// changed by the time that the kernel looks.
bool ChannelWorker::is_inside(const seccomp_notif& call, schema::Event* event) {
  if (ipc_call(spec_, call.data.nr) == IpcCall::kSignal) {
    const SignalTarget target =
        follow_descriptor(signal_target(call.data), static_cast<pid_t>(call.pid));
    event->object.name = target_text(target);
    return !signal_scope_.is_outside(target);
  }
  if (const std::optional<SchedulingTarget> target = scheduling_target(call.data)) {
    return !signal_scope_.is_outside({SignalTarget::Kind::kProcess, target->who});
  }
  const MemoryUse use = memory_use(call.data);
  if (!broker_calls_ || use.by_place) {
    return false;
  }
  const bool inside = broker_calls_->made_inside().has_memory(use.kind, use.id);
  if (inside && use.removes) {
    broker_calls_->made_inside().remove_memory(use.kind, use.id);
  }
  return inside;
}

}  // namespace aasm::backend_native
