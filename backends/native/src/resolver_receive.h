#pragma once

#include <linux/seccomp.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "aasm/process/fd.h"
#include "aasm/schema/result.h"

#include "listener.h"
#include "network_spec.h"
#include "outgoing_message.h"
#include "resolver_clients.h"

// What the sockets that ask the supervisor's resolver are told about whom they hear from.
namespace aasm::backend_native {

// recvfrom(2) with room for an address, recvmsg(2), recvmmsg(2) and getpeername(2). On a socket
// that ResolverClients lists they are carried out here, and the resolver is called by the address
// that the program believes to ask: programs drop answers from anywhere else. On every other the
// kernel runs them: nothing is judged by what they point to. One thread.
class ReceiveCalls {
 public:
  using Clock = std::chrono::steady_clock;

  ReceiveCalls(const Listener& listener, const ResolverClients& clients, Responder responder)
      : listener_(listener), clients_(clients), responder_(responder) {}

  schema::Result<void> begin(const seccomp_notif& notified);

  // To be called every kLookEvery (in_flight.h) while waiting().
  schema::Result<void> look_again(Clock::time_point now);
  bool waiting() const { return !held_.empty(); }

 private:
  struct Call {
    std::uint64_t notification = 0;
    pid_t tid = 0;
    seccomp_data data{};
    process::Fd socket;
    InternetAddress asked;
    std::optional<Clock::time_point> deadline;  // SO_RCVTIMEO
  };
  // Where in the caller's memory what is received goes; an address of 0: nowhere.
  struct Places {
    std::vector<RemoteSpan> spans;
    std::uint64_t total = 0;
    std::uint64_t name = 0;
    std::uint64_t name_size = 0;  // an int, to be read and written
    std::uint64_t header = 0;     // struct user_msghdr
    std::uint64_t length = 0;     // msg_len of recvmmsg(2)
    int flags = 0;
  };

  std::optional<Call> claim(const seccomp_notif& notified) const;
  // False: nothing has come yet and the caller waits.
  schema::Result<bool> receive(const Call& call) const;
  schema::Result<std::int64_t> take(const Call& call, const Places& places) const;
  schema::Result<std::int64_t> tell_peer(const Call& call) const;
  schema::Result<void> answer(const Call& call, const schema::Result<std::int64_t>& result) const;
  std::string name_for(const Call& call, const std::string& seen) const;
  static schema::Result<Places> read_places(const Call& call);

  const Listener& listener_;
  const ResolverClients& clients_;
  Responder responder_;
  std::vector<Call> held_;
};

}  // namespace aasm::backend_native
