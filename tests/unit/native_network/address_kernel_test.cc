#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include <gtest/gtest.h>

#include "network_builder.h"
#include "support/dice.h"

// The kernel as the oracle of read_address(): random bytes, near an address and far from one, are
// given to a datagram socket, which sends nothing in connect(2). What is said to be refused is
// refused with that number; what is said to be an address is the peer that the socket then has.
namespace aasm::backend_native {
namespace {

using aasm::test::Dice;
using aasm::test::property_rounds;
using testing::Bytes;

class Socket {
 public:
  Socket(int family, int type) : number_(::socket(family, type | SOCK_CLOEXEC, 0)) {}
  ~Socket() { ::close(number_); }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

const sockaddr* pointer(const Bytes& bytes) {
  static const sockaddr_storage nothing{};
  return reinterpret_cast<const sockaddr*>(bytes.empty() ? static_cast<const void*>(&nothing)
                                                         : bytes.data());
}

Bytes any_bytes(Dice& dice) {
  Bytes bytes(dice.below(129));
  std::generate(bytes.begin(), bytes.end(),
                [&] { return static_cast<std::uint8_t>(dice.below(256)); });
  if (bytes.size() >= 2 && !dice.one_in(8)) {
    constexpr std::array<sa_family_t, 4> kFamilies = {AF_UNSPEC, AF_INET, AF_INET6, AF_UNIX};
    bytes = testing::with_family(std::move(bytes), kFamilies.at(dice.below(4)));
  }
  return bytes;
}

// Addresses that a socket can have without a network: of loopback, mapped, unspecified.
Bytes near_bytes(Dice& dice) {
  static const std::vector<const char*> v4 = {"127.0.0.1", "127.9.8.7", "0.0.0.0"};
  static const std::vector<const char*> v6 = {"::1", "::", "::ffff:127.0.0.1", "::ffff:0.0.0.0",
                                              "::ffff:127.7.7.7"};
  const auto port = static_cast<std::uint16_t>(1024 + dice.below(60000));
  Bytes bytes = dice.one_in(2) ? testing::v4(dice.of(v4), port) : testing::v6(dice.of(v6), port);
  if (dice.one_in(3)) {
    bytes.resize(dice.below(65));
  }
  if (bytes.size() >= 2 && dice.one_in(4)) {
    bytes = testing::with_family(std::move(bytes), AF_UNSPEC);
  }
  if (bytes.size() >= 8 && dice.one_in(8)) {
    bytes[7] = static_cast<std::uint8_t>(dice.below(256));
  }
  return bytes;
}

InternetAddress without_mapping(const sockaddr_storage& name) {
  InternetAddress address;
  Bytes bytes = testing::bytes_of(name);
  const bool v6 = name.ss_family == AF_INET6;
  address.port = static_cast<std::uint16_t>(bytes[2] * 256 + bytes[3]);
  const std::size_t at = v6 ? 8 : 4;
  address.v6 = v6;
  std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), v6 ? 16 : 4, address.bytes.begin());
  in6_addr six{};
  std::memcpy(&six, address.bytes.data(), sizeof six);
  if (v6 && IN6_IS_ADDR_V4MAPPED(&six)) {
    InternetAddress plain;
    plain.port = address.port;
    std::copy_n(address.bytes.begin() + 12, 4, plain.bytes.begin());
    return plain;
  }
  return address;
}

std::string shown(const Bytes& bytes) {
  std::string text = std::to_string(bytes.size()) + ":";
  for (const std::uint8_t byte : bytes) {
    text += " " + std::to_string(byte);
  }
  return text;
}

// True when the kernel took the address and it could be compared.
bool compare_connect(const SocketFacts& facts, const Bytes& bytes) {
  const ReadAddress read = read_address(facts, NetworkCall::kConnect, bytes);
  const Socket socket(facts.family, facts.type);
  if (read.reading == AddressReading::kRefused) {
    const int done =
        ::connect(socket.number(), pointer(bytes), static_cast<socklen_t>(bytes.size()));
    EXPECT_TRUE(done == -1 && errno == read.os_errno) << errno << ", " << shown(bytes);
    return false;
  }
  if (facts.type != SOCK_DGRAM) {
    return false;  // this one would send
  }
  const int done =
      ::connect(socket.number(), pointer(read.bytes), static_cast<socklen_t>(read.bytes.size()));
  sockaddr_storage peer{};
  socklen_t length = sizeof peer;
  const int named = ::getpeername(socket.number(), reinterpret_cast<sockaddr*>(&peer), &length);
  if (read.reading == AddressReading::kDissolve) {
    EXPECT_TRUE(done == 0 && named == -1 && errno == ENOTCONN) << shown(bytes);
    return true;
  }
  if (done != 0 || named != 0) {
    return false;  // no route, port 0, broadcast
  }
  EXPECT_EQ(without_mapping(peer), read.address) << shown(bytes);
  return true;
}

bool compare_bind(const SocketFacts& facts, const Bytes& bytes) {
  const ReadAddress read = read_address(facts, NetworkCall::kBind, bytes);
  const Socket socket(facts.family, facts.type);
  const bool refused = read.reading == AddressReading::kRefused;
  const Bytes& given = refused ? bytes : read.bytes;
  const int done = ::bind(socket.number(), pointer(given), static_cast<socklen_t>(given.size()));
  if (refused) {
    EXPECT_TRUE(done == -1 && errno == read.os_errno) << errno << ", " << shown(bytes);
    return false;
  }
  if (done != 0) {
    return false;  // not an address of this host, a port in use
  }
  sockaddr_storage own{};
  socklen_t length = sizeof own;
  EXPECT_EQ(::getsockname(socket.number(), reinterpret_cast<sockaddr*>(&own), &length), 0);
  InternetAddress name = without_mapping(own);
  name.port = read.address.port == 0 ? 0 : name.port;
  EXPECT_EQ(name, read.address) << shown(bytes);
  return true;
}

void compare_send(const SocketFacts& facts, const Bytes& bytes) {
  const ReadAddress read = read_address(facts, NetworkCall::kSend, bytes);
  const bool stricter =
      facts.family == AF_INET6 && bytes.size() >= 2 && bytes[0] == AF_UNSPEC && bytes[1] == 0;
  // No bytes of an address are no address to sendto(2).
  if (read.reading != AddressReading::kRefused || stricter || bytes.empty()) {
    return;
  }
  const Socket socket(facts.family, facts.type);
  const char payload = 0;
  const auto sent = ::sendto(socket.number(), &payload, 0, 0, pointer(bytes),
                             static_cast<socklen_t>(bytes.size()));
  EXPECT_TRUE(sent == -1 && errno == read.os_errno) << errno << ", " << shown(bytes);
}

class AddressKernelTest : public ::testing::TestWithParam<SocketFacts> {};

TEST_P(AddressKernelTest, ReadsWhatTheKernelReads) {
  const SocketFacts facts = GetParam();
  if (Socket(facts.family, facts.type).number() < 0) {
    GTEST_SKIP() << "this host has no such socket: errno " << errno;
  }
  Dice dice(17);
  int compared = 0;
  const std::uint64_t rounds = property_rounds(4000);
  for (std::uint64_t i = 0; i < rounds && !HasFailure(); ++i) {
    const Bytes bytes = dice.one_in(3) ? any_bytes(dice) : near_bytes(dice);
    compared += compare_connect(facts, bytes) ? 1 : 0;
    compared += compare_bind(facts, bytes) ? 1 : 0;
    if (facts.type == SOCK_DGRAM) {
      compare_send(facts, bytes);
    }
  }
  EXPECT_GT(compared, 100);
}

INSTANTIATE_TEST_SUITE_P(Sockets, AddressKernelTest,
                         ::testing::Values(testing::kTcp4, testing::kTcp6, testing::kUdp4,
                                           testing::kUdp6),
                         [](const auto& param) {
                           return std::string(param.param.type == SOCK_STREAM ? "Tcp" : "Udp") +
                                  (param.param.family == AF_INET ? "4" : "6");
                         });

}  // namespace
}  // namespace aasm::backend_native
