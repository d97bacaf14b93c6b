#pragma once

#include <linux/seccomp.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "aasm/process/fd.h"
#include "aasm/schema/record_activity.h"
#include "aasm/schema/result.h"

#include "attribution.h"
#include "broker_client.h"
#include "caller_state.h"
#include "file_judge.h"
#include "in_flight.h"
#include "ipc_judge.h"
#include "made_inside.h"
#include "network_judge.h"
#include "observing.h"
#include "outgoing_message.h"
#include "resolver_clients.h"

// The calls on sockets that are judged by what they point to (docs/decisions/0015, 0016).
namespace aasm::backend_native {

struct FileAnswer;
struct FoundPlace;

// For each call the arguments are copied and the caller's socket is taken, once. What policy denies
// is finished at once; what it allows is sent to the broker with those copies, and finished by its
// answer. Nothing here waits: not for the broker, and not for the kernel. One thread.
//
// A caller that has a signal to take, or is gone, has its call cancelled: cancel_interrupted() is
// to be called every kLookEvery (in_flight.h) while waiting().
class BrokerCalls {
 public:
  using Clock = std::chrono::steady_clock;

  // `clients`: where names are answered.
  BrokerCalls(const BrokerCallsSetup& setup, const NetworkSpec& spec, const IpcSpec& ipc,
              const FileSpec& files, const Observing& observing, ResolverClients* clients);
  ~BrokerCalls();
  BrokerCalls(const BrokerCalls&) = delete;
  BrokerCalls& operator=(const BrokerCalls&) = delete;

  // One of connect, bind, listen, sendto, sendmsg and sendmmsg, or one that makes or finds what
  // processes share (MemoryCall::kMakes).
  void begin(const seccomp_notif& notified, Caller caller);

  // An answer of the broker, to a call of these.
  void accept(BrokerAnswer answer);
  // What could not be sent before. An error: the broker is gone.
  schema::Result<void> send_queued();
  bool has_queued() const { return calls_.has_queued(); }

  void cancel_interrupted(Clock::time_point now);

  // In the order in which they ended.
  std::vector<FinishedCall> take_finished() { return calls_.take_finished(); }
  // A call that somebody else has answered; what the broker says of it is thrown away.
  void forget(std::uint64_t notification);

  // What the tree has made by these calls. A call that removes something of it says so here.
  MadeInside& made_inside() { return made_inside_; }

  bool waiting() const { return calls_.waiting(); }

 private:
  struct Brokered;

  schema::Result<void> start(Brokered& call);
  schema::Result<void> start_listen(Brokered& call);
  schema::Result<void> start_address(Brokered& call, NetworkCall what, const std::string& address);
  schema::Result<void> start_unix(Brokered& call, NetworkCall what, const std::string& address);
  schema::Result<void> start_message(Brokered& call);
  // brokered_ipc.cc
  schema::Result<void> start_memory(Brokered& call);
  void find_memory(Brokered& call);
  void memory_made(Brokered& call, std::int64_t result);
  bool admit_socket_path(Brokered& call, NetworkCall what, const ResolvedSocket& resolved,
                         bool is_socket, const process::Fd& target);
  void say_bound_file(Brokered& call) const;
  void note_bound_socket(const Brokered& call, const BrokerAnswer& answer);
  void note_scope_refusal(Brokered& call, std::int64_t os_errno);
  schema::Result<void> order_unix_path(Brokered& call, NetworkCall what, const std::string& path);
  schema::Result<void> add_credentials(Brokered& call);
  // brokered_bind.cc
  schema::Result<void> order_bind_place(Brokered& call, const std::string& path);
  void find_bind_place(Brokered& call);
  schema::Result<void> bind_in_place(Brokered& call, FileAnswer& file);
  void order_bind(Brokered& call, FileAnswer& found);
  bool is_bind_over(Brokered& call, std::int64_t os_errno);
  void end_bind(Brokered& call, FileVerdict verdict, std::int64_t os_errno);
  bool admit(Brokered& call, NetworkVerdict verdict, const std::string& address = {});
  schema::Result<bool> admit_address(Brokered& call, NetworkCall what, const std::string& address);
  schema::Result<void> note_client(const Brokered& call, const NetworkVerdict& verdict) const;
  schema::Result<void> go_on(Brokered& call, BrokerAnswer& answer);
  schema::Result<void> take_target(Brokered& call, BrokerAnswer& answer);
  schema::Result<void> reach_target(Brokered& call, const FoundPlace& place, process::Fd target);
  schema::Result<void> read_message(Brokered& call);
  static schema::Result<void> write_sent_length(const Brokered& call);
  schema::Result<void> message_sent(Brokered& call, std::int64_t result);
  void dispatch(Brokered& call);
  bool try_send(Brokered& call);
  void fail(Brokered& call, const schema::Error& error);
  void finish(Brokered& call, std::int64_t value, std::int64_t os_errno);
  void note_outcome(Brokered& call, std::int64_t os_errno);
  void note_fault(Brokered& call, std::int64_t os_errno);

  const Listener& listener_;
  pid_t broker_pid_;
  pid_t warden_pid_;
  const BrokerRights& rights_;
  Attribution& callers_;
  const NetworkSpec& spec_;
  const IpcSpec& ipc_;
  const FileSpec& files_;
  const Observing& observing_;
  ResolverClients* clients_;
  MadeInside made_inside_;
  CallsInFlight<Brokered> calls_;  // of even numbers
};

}  // namespace aasm::backend_native
