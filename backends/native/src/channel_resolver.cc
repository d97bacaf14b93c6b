#include <utility>

#include "channel_worker.h"

// The part of the channel's thread that has to do with the resolver.
namespace aasm::backend_native {

using schema::Result;
using Clock = Coalescer::Clock;

Result<void> ChannelWorker::serve_resolver() {
  record_lookups();
  return receive_calls_ && receive_calls_->waiting() ? receive_calls_->look_again(Clock::now())
                                                     : Result<void>();
}

void ChannelWorker::end_resolver() {
  if (resolver_) {
    resolver_->stop();
  }
  record_lookups();
}

// Whoever asked is not held up by the answer, so its parents are looked for only where it is known
// to be there still.
void ChannelWorker::record_lookups() {
  if (!resolver_) {
    return;
  }
  for (DecidedLookup& decided : resolver_->take_decided()) {
    const ResolverClient& client = decided.client;
    const auto now = Clock::now();
    const Caller found = client.tid != 0 ? attribution_.identify(client.tid) : Caller();
    complete(client.caller, client.tid, found.certain && found.pid == client.caller.pid,
             &decided.event);
    record(std::move(decided.event), now);
  }
}

}  // namespace aasm::backend_native
