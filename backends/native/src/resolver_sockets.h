#pragma once

#include <poll.h>
#include <sys/socket.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "aasm/process/fd.h"
#include "aasm/schema/result.h"

#include "network_spec.h"

namespace aasm::backend_native {

// Whoever sent a question to the resolver's sockets, and where its answer goes.
struct Asker {
  bool stream = false;
  bool v6 = false;
  std::uint16_t port = 0;
  std::uint64_t connection = 0;  // of a stream
};

// The sockets on loopback at which questions arrive: datagrams, and streams of messages behind
// their length (RFC 1035 section 4.2). Nothing waits; what cannot be sent on a stream yet is kept.
// One thread.
class ResolverSockets {
 public:
  using OnQuestion = std::function<void(const Asker&, std::span<const std::uint8_t>)>;
  // Whether a stream may go on: its first bytes have not been read.
  using Admit = std::function<bool(const Asker&)>;

  static schema::Result<ResolverSockets> open();

  Responder responder() const { return responder_; }
  void add_descriptors(std::vector<pollfd>& fds, bool questions) const;
  // Hands over what has come; a bounded part of it, when there is much.
  void receive(const Admit& admit, const OnQuestion& take);
  void send(const Asker& to, const std::string& message);
  // Datagrams that found no room and were dropped by the kernel since the last call.
  std::int64_t take_lost();

 private:
  // One of the two addresses of loopback.
  struct Side {
    process::Fd datagrams;
    process::Fd listener;
    std::uint32_t lost = 0;  // datagrams, as the kernel counts them: modulo 2^32
  };
  struct Connection {
    Asker peer;
    process::Fd socket;
    std::string received;
    std::string unsent;
    bool over = false;
  };

  static std::optional<Side> open_side(bool v6, std::uint16_t* port);
  void receive_datagrams(const Side& side, bool v6, const OnQuestion& take) const;
  void accept_connections(const Side& side, bool v6, const Admit& admit);
  static void read_connection(Connection& connection, const OnQuestion& take);
  static void flush(Connection& connection);

  Responder responder_;
  Side v4_;
  Side v6_;
  std::uint64_t last_ = 0;
  std::vector<Connection> connections_;
};

}  // namespace aasm::backend_native
