#pragma once

#include <poll.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "aasm/process/fd.h"

#include "dns_message.h"
#include "resolver_config.h"

namespace aasm::backend_native {

// One question to the host's name servers, for one type of address: over UDP, each attempt by a
// socket and a number of its own that nobody can guess, and over TCP where a reply does not fit.
// Nothing waits. One thread.
class NameLookup {
 public:
  using Clock = std::chrono::steady_clock;
  // From the first question to the failure, so that a name server that is dead is known to be
  // inside two seconds.
  static constexpr std::chrono::milliseconds kPatience{1800};
  static constexpr std::chrono::milliseconds kNextAttempt{600};

  NameLookup(std::string wire, std::uint16_t type, std::vector<NameServer> servers,
             Clock::time_point now);

  // What is to be waited for, until next_turn() at most; then advance() is to be called.
  void add_descriptors(std::vector<pollfd>& fds) const;
  Clock::time_point next_turn() const;
  void advance(Clock::time_point now);

  // The end: what was found, or kServerFailure. The addresses are of the name asked for, whatever
  // aliases led to them.
  const std::optional<dns::Answer>& result() const { return result_; }

 private:
  // One socket to one server.
  struct Attempt {
    process::Fd socket;
    NameServer server;
    dns::Asked asked;
    bool stream = false;
    std::string unsent;    // of a stream
    std::string received;  // of a stream
  };

  void begin_attempt(Clock::time_point now);
  std::optional<Attempt> open_attempt(const NameServer& server, bool stream) const;
  // False: the attempt is over and brought nothing.
  bool take_datagram(Attempt& attempt, Clock::time_point now);
  bool take_stream(Attempt& attempt, Clock::time_point now);
  bool take_reply(const dns::Reply& reply, Clock::time_point now);
  void follow(const std::string& alias, Clock::time_point now);

  std::string wire_;  // what is asked for now: an alias, later on
  std::uint16_t type_;
  std::vector<NameServer> servers_;
  Clock::time_point deadline_;
  Clock::time_point next_attempt_;
  std::size_t num_attempts_ = 0;
  std::size_t num_aliases_ = 0;
  std::uint32_t ttl_ = UINT32_MAX;  // the least on the way
  std::vector<Attempt> attempts_;
  std::optional<dns::Answer> result_;
};

}  // namespace aasm::backend_native
