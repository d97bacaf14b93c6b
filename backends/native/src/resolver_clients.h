#pragma once

#include <sys/types.h>

#include <array>
#include <bitset>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>

#include "attribution.h"
#include "network_address.h"

namespace aasm::backend_native {

// A socket of the workload that asks the supervisor's resolver, believing it asks another.
struct ResolverClient {
  std::uint64_t cookie = 0;  // SO_COOKIE: no other socket ever has it
  bool stream = false;
  bool v6 = false;         // by which of the resolver's two sockets it is seen
  std::uint16_t port = 0;  // of its own
  InternetAddress asked;   // whom it believes to ask
  Caller caller;           // who made it ask
  pid_t tid = 0;
};

// The newest of them. Any thread.
class ResolverClients {
 public:
  static constexpr std::size_t kMost = 1024;

  void add(ResolverClient client);
  std::optional<ResolverClient> by_cookie(std::uint64_t cookie) const;
  std::optional<ResolverClient> by_port(bool stream, bool v6, std::uint16_t port) const;
  // Whether a socket at this port was listed once and had to make room.
  bool is_forgotten(bool stream, bool v6, std::uint16_t port) const;
  bool empty() const;

 private:
  using Ports = std::bitset<65536>;

  static std::size_t kind_of(bool stream, bool v6) { return (stream ? 2U : 0U) + (v6 ? 1U : 0U); }

  mutable std::mutex mutex_;
  std::deque<ResolverClient> clients_;  // newest first
  std::array<Ports, 4> forgotten_;
};

}  // namespace aasm::backend_native
