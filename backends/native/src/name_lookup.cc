#include "name_lookup.h"

#include <sys/random.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace aasm::backend_native {
namespace {

constexpr std::size_t kMaxAttempts = 3;
constexpr std::size_t kMaxAliases = 8;
constexpr std::size_t kLargestDatagram = 4096;

std::uint16_t random_number() {
  std::uint16_t number = 0;
  while (::getrandom(&number, sizeof number, 0) != sizeof number) {
  }
  return number;
}

std::span<const std::uint8_t> bytes_of(const char* bytes, std::size_t size) {
  return {reinterpret_cast<const std::uint8_t*>(bytes), size};
}

bool would_wait() {
  return errno == EAGAIN || errno == EINPROGRESS || errno == ENOTCONN || errno == EINTR;
}

}  // namespace

NameLookup::NameLookup(std::string wire, std::uint16_t type, std::vector<NameServer> servers,
                       Clock::time_point now)
    : wire_(std::move(wire)),
      type_(type),
      servers_(std::move(servers)),
      deadline_(now + kPatience),
      next_attempt_(now) {
  advance(now);
}

void NameLookup::add_descriptors(std::vector<pollfd>& fds) const {
  for (const Attempt& attempt : attempts_) {
    const bool sends = attempt.stream && !attempt.unsent.empty();
    fds.push_back({attempt.socket.get(), static_cast<short>(sends ? POLLOUT : POLLIN), 0});
  }
}

NameLookup::Clock::time_point NameLookup::next_turn() const {
  return num_attempts_ < kMaxAttempts ? std::min(next_attempt_, deadline_) : deadline_;
}

// The socket is connected: the kernel drops what comes from anywhere else.
std::optional<NameLookup::Attempt> NameLookup::open_attempt(const NameServer& server,
                                                            bool stream) const {
  const std::vector<std::uint8_t> name =
      spell_address(server.address, server.address.v6, server.scope);
  Attempt attempt;
  attempt.server = server;
  attempt.stream = stream;
  attempt.asked = {random_number(), wire_, type_};
  attempt.socket.reset(::socket(server.address.v6 ? AF_INET6 : AF_INET,
                                (stream ? SOCK_STREAM : SOCK_DGRAM) | SOCK_CLOEXEC | SOCK_NONBLOCK,
                                0));
  if (!attempt.socket ||
      (::connect(attempt.socket.get(), reinterpret_cast<const sockaddr*>(name.data()),
                 static_cast<socklen_t>(name.size())) != 0 &&
       errno != EINPROGRESS)) {
    return std::nullopt;
  }
  const std::string query = dns::write_query(attempt.asked);
  if (stream) {
    attempt.unsent = {static_cast<char>(query.size() >> 8U), static_cast<char>(query.size())};
    attempt.unsent += query;
  } else if (::send(attempt.socket.get(), query.data(), query.size(), MSG_NOSIGNAL) < 0) {
    return std::nullopt;
  }
  return attempt;
}

void NameLookup::begin_attempt(Clock::time_point now) {
  const NameServer& server = servers_[num_attempts_ % servers_.size()];
  ++num_attempts_;
  next_attempt_ = now + kNextAttempt;
  if (std::optional<Attempt> attempt = open_attempt(server, false)) {
    attempts_.push_back(std::move(*attempt));
  }
}

void NameLookup::advance(Clock::time_point now) {
  for (std::size_t i = 0; i < attempts_.size() && !result_;) {
    const std::size_t before = num_aliases_;
    const bool goes_on =
        attempts_[i].stream ? take_stream(attempts_[i], now) : take_datagram(attempts_[i], now);
    if (num_aliases_ != before) {
      return;  // begun anew
    }
    if (goes_on) {
      ++i;
    } else {
      attempts_.erase(attempts_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  while (!result_ && num_attempts_ < kMaxAttempts && (attempts_.empty() || now >= next_attempt_)) {
    begin_attempt(now);
  }
  if (!result_ && (attempts_.empty() || now >= deadline_)) {
    result_ = dns::Answer{dns::Rcode::kServerFailure, {}, 0, false};
  }
  if (result_) {
    attempts_.clear();
  }
}

bool NameLookup::take_datagram(Attempt& attempt, Clock::time_point now) {
  std::array<char, kLargestDatagram> buffer{};
  for (;;) {
    const ssize_t got = ::recv(attempt.socket.get(), buffer.data(), buffer.size(), 0);
    if (got < 0) {
      return would_wait();  // else nobody listens there
    }
    const auto reply =
        dns::read_reply(bytes_of(buffer.data(), static_cast<std::size_t>(got)), attempt.asked);
    if (!reply) {
      continue;  // somebody's guess, or of no use: the right one may follow
    }
    if (!reply->truncated) {
      return take_reply(*reply, now);
    }
    std::optional<Attempt> stream = open_attempt(attempt.server, true);
    if (!stream) {
      return false;
    }
    attempt = std::move(*stream);
    return true;
  }
}

bool NameLookup::take_stream(Attempt& attempt, Clock::time_point now) {
  while (!attempt.unsent.empty()) {
    const ssize_t sent =
        ::send(attempt.socket.get(), attempt.unsent.data(), attempt.unsent.size(), MSG_NOSIGNAL);
    if (sent < 0) {
      return would_wait();
    }
    attempt.unsent.erase(0, static_cast<std::size_t>(sent));
  }
  std::array<char, kLargestDatagram> buffer{};
  for (;;) {
    std::string& all = attempt.received;
    const std::size_t wanted =
        all.size() < 2 ? 2
                       : 2 + (static_cast<std::size_t>(static_cast<unsigned char>(all[0])) << 8U |
                              static_cast<unsigned char>(all[1]));
    if (all.size() >= 2 && all.size() >= wanted) {
      const auto reply = dns::read_reply(bytes_of(all.data() + 2, wanted - 2), attempt.asked);
      return reply && !reply->truncated && take_reply(*reply, now);
    }
    const ssize_t got = ::recv(attempt.socket.get(), buffer.data(),
                               std::min(buffer.size(), wanted - all.size()), 0);
    if (got <= 0) {
      return got < 0 && would_wait();
    }
    all.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

bool NameLookup::take_reply(const dns::Reply& reply, Clock::time_point now) {
  const dns::Rcode rcode = reply.answer.rcode;
  if (rcode != dns::Rcode::kNoError && rcode != dns::Rcode::kNameError) {
    return false;  // another server may know
  }
  ttl_ = std::min(ttl_, reply.answer.ttl);
  if (!reply.alias.empty()) {
    follow(reply.alias, now);
    return true;
  }
  result_ = reply.answer;
  result_->ttl = reply.answer.addresses.empty() ? 0 : ttl_;
  return true;
}

// The server gave an alias and not what it stands for.
void NameLookup::follow(const std::string& alias, Clock::time_point now) {
  if (++num_aliases_ > kMaxAliases) {
    result_ = dns::Answer{dns::Rcode::kServerFailure, {}, 0, false};
    return;
  }
  wire_ = alias;
  attempts_.clear();
  num_attempts_ = 0;
  next_attempt_ = now;
  begin_attempt(now);
}

}  // namespace aasm::backend_native
