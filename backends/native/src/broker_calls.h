#pragma once

#include <linux/seccomp.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "aasm/process/fd.h"
#include "aasm/schema/record_activity.h"
#include "aasm/schema/result.h"

#include "attribution.h"
#include "broker_client.h"
#include "caller_state.h"
#include "listener.h"
#include "network_judge.h"
#include "outgoing_message.h"

// The calls on sockets that are judged by what they point to (docs/decisions/0015, 0016).
namespace aasm::backend_native {

struct BrokerSetup {
  process::Fd socket;  // ours, to the broker
  pid_t broker = 0;
  NetworkSpec spec;
};

// A call that is to be answered, and what is to be recorded of it.
struct FinishedCall {
  std::uint64_t notification = 0;
  pid_t tid = 0;
  Caller caller;
  std::int64_t value = 0;     // where os_errno is 0
  std::int64_t os_errno = 0;  // kRestart: the caller takes its signal and the call starts anew
  int signal = 0;             // SIGPIPE, sent to the caller's thread before the answer
  std::vector<schema::Event> events;  // without pid, tid, parents, executable and reply
};

inline constexpr std::int64_t kRestart = 512;  // ERESTARTSYS of the kernel

// For each call the arguments are copied and the caller's socket is taken, once. What policy denies
// is finished at once; what it allows is sent to the broker with those copies, and finished by its
// answer. Nothing here waits: not for the broker, and not for the kernel. One thread.
//
// A caller that has a signal to take, or is gone, has its call cancelled: cancel_interrupted() is
// to be called every kLookEvery while waiting().
class BrokerCalls {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kLookEvery{20};

  BrokerCalls(BrokerSetup setup, const Listener& listener);
  ~BrokerCalls();
  BrokerCalls(const BrokerCalls&) = delete;
  BrokerCalls& operator=(const BrokerCalls&) = delete;

  // One of connect, bind, listen, sendto, sendmsg and sendmmsg.
  void begin(const seccomp_notif& notified, Caller caller);

  // Takes the broker's answers that have come. An error: it is gone.
  schema::Result<void> receive();

  void cancel_interrupted(Clock::time_point now);

  // In the order in which they ended.
  std::vector<FinishedCall> take_finished();
  // A call that somebody else has answered; what the broker says of it is thrown away.
  void forget(std::uint64_t notification);

  // Whether calls are out, and what to poll the broker's descriptor for.
  bool waiting() const { return !calls_.empty(); }
  int fd() const { return broker_.fd(); }
  pid_t broker() const { return broker_pid_; }
  short poll_events() const;

 private:
  struct Brokered;

  schema::Result<void> start(Brokered& call);
  schema::Result<void> start_listen(Brokered& call);
  schema::Result<void> start_address(Brokered& call, NetworkCall what, const std::string& address);
  schema::Result<void> start_unix(Brokered& call, NetworkCall what, const std::string& address);
  schema::Result<void> start_message(Brokered& call);
  schema::Result<void> order_unix_path(Brokered& call, NetworkCall what, const std::string& path);
  schema::Result<void> add_credentials(Brokered& call);
  bool admit(Brokered& call, NetworkVerdict verdict);
  schema::Result<void> go_on(Brokered& call, BrokerAnswer& answer);
  schema::Result<void> take_target(Brokered& call, BrokerAnswer& answer);
  schema::Result<void> read_message(Brokered& call);
  static schema::Result<void> write_sent_length(const Brokered& call);
  schema::Result<void> message_sent(Brokered& call, std::int64_t result);
  void accept(BrokerAnswer answer);
  void dispatch(Brokered& call);
  bool try_send(Brokered& call);
  void send_queued();
  void fail(Brokered& call, const schema::Error& error);
  void finish(Brokered& call, std::int64_t value, std::int64_t os_errno);
  void note_outcome(Brokered& call, std::int64_t os_errno);
  void note_fault(Brokered& call, std::int64_t os_errno);

  const Listener& listener_;
  BrokerClient broker_;
  pid_t broker_pid_;
  NetworkSpec spec_;
  std::optional<BrokerCredentials> own_;  // the broker's, where callers may have others
  std::uint64_t last_ = 0;
  std::map<std::uint64_t, std::unique_ptr<Brokered>> calls_;  // by the number the broker knows
  std::deque<std::uint64_t> queue_;                           // not yet sent
  std::vector<FinishedCall> finished_;
  std::optional<schema::Error> broken_;
};

}  // namespace aasm::backend_native
