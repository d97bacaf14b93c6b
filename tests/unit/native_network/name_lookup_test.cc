#include "name_lookup.h"

#include <poll.h>
#include <sys/socket.h>

#include <functional>
#include <thread>

#include <gtest/gtest.h>
#include <netinet/in.h>

#include "dns_name.h"

namespace aasm::backend_native {
namespace {

using Clock = NameLookup::Clock;
using Answers = std::function<std::string(const std::string&)>;

// A name server on loopback for one test: what `answer` returns is sent, unless it is empty.
class Server {
 public:
  Server() : socket_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    const auto at = spell_address(loopback_address(false, 0), false);
    EXPECT_EQ(
        ::bind(socket_.get(), reinterpret_cast<const sockaddr*>(at.data()), sizeof(sockaddr_in)),
        0);
    sockaddr_in name{};
    socklen_t size = sizeof name;
    ::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&name), &size);
    port_ = ntohs(name.sin_port);
  }
  NameServer at() const { return {loopback_address(false, port_), 0}; }

  void serve(const Answers& answer) {
    std::string buffer(1024, '\0');
    sockaddr_in from{};
    socklen_t size = sizeof from;
    const ssize_t got = ::recvfrom(socket_.get(), buffer.data(), buffer.size(), 0,
                                   reinterpret_cast<sockaddr*>(&from), &size);
    if (got < 0) {
      return;
    }
    ++questions;
    buffer.resize(static_cast<std::size_t>(got));
    const std::string reply = answer(buffer);
    if (!reply.empty()) {
      ::sendto(socket_.get(), reply.data(), reply.size(), 0, reinterpret_cast<sockaddr*>(&from),
               size);
    }
  }
  int questions = 0;

 private:
  process::Fd socket_;
  std::uint16_t port_ = 0;
};

std::string with_address(const std::string& query) {
  const auto question =
      dns::read_question({reinterpret_cast<const std::uint8_t*>(query.data()), query.size()});
  return dns::write_answer(*question,
                           {dns::Rcode::kNoError, {{false, {93, 184, 216, 34}, 0}}, 60, false},
                           dns::kPlainLimit);
}
std::string with_rcode(std::string query, char rcode) {
  query[2] = static_cast<char>(0x81);
  query[3] = rcode;
  return query;
}

dns::Answer finish(NameLookup& lookup, std::vector<std::pair<Server*, Answers>> servers) {
  while (!lookup.result()) {
    for (auto& [server, answer] : servers) {
      server->serve(answer);
    }
    std::vector<pollfd> fds;
    lookup.add_descriptors(fds);
    ::poll(fds.data(), fds.size(), 5);
    lookup.advance(Clock::now());
  }
  return *lookup.result();
}

NameLookup ask(std::vector<NameServer> servers) {
  return {*dns::name_wire("a.example"), dns::kTypeA, std::move(servers), Clock::now()};
}

TEST(NameLookupTest, AnAnswerIsTakenAndAWrongOneIsNot) {
  Server server;
  NameLookup lookup = ask({server.at()});
  const dns::Answer answer = finish(lookup, {{&server, with_address}});
  EXPECT_EQ(answer.addresses.size(), 1U);
  EXPECT_EQ(server.questions, 1);
  Server liar;
  NameLookup deceived = ask({liar.at()});
  int sent = 0;
  EXPECT_EQ(finish(deceived, {{&liar,
                               [&](const std::string& query) {
                                 std::string reply = with_address(query);
                                 reply[0] = static_cast<char>(reply[0] ^ (sent++ == 0 ? 1 : 0));
                                 return reply;
                               }}})
                .addresses.size(),
            1U);
  EXPECT_EQ(liar.questions, 2) << "what did not fit was no answer";
}

TEST(NameLookupTest, AServerThatFailsIsFollowedByTheNext) {
  Server first;
  Server second;
  NameLookup lookup = ask({first.at(), second.at()});
  const auto begin = Clock::now();
  const dns::Answer answer =
      finish(lookup, {{&first, [](const std::string& query) { return with_rcode(query, 2); }},
                      {&second, with_address}});
  EXPECT_EQ(answer.addresses.size(), 1U);
  EXPECT_LT(Clock::now() - begin, NameLookup::kNextAttempt);
  Server nowhere;
  const NameServer gone = nowhere.at();
  nowhere = Server();
  Server third;
  NameLookup refused = ask({gone, third.at()});
  EXPECT_EQ(finish(refused, {{&third, with_address}}).addresses.size(), 1U);
}

TEST(NameLookupTest, ANameThatIsNotThereIsAnAnswer) {
  Server server;
  NameLookup lookup = ask({server.at()});
  EXPECT_EQ(
      finish(lookup, {{&server, [](const std::string& query) { return with_rcode(query, 3); }}})
          .rcode,
      dns::Rcode::kNameError);
}

// Case 54.
TEST(NameLookupTest, SilenceIsAFailureInsideTwoSeconds) {
  Server server;
  auto now = Clock::now();
  NameLookup lookup(*dns::name_wire("a.example"), dns::kTypeA, {server.at()}, now);
  for (int i = 0; i < 10 && !lookup.result(); ++i) {
    EXPECT_LE(lookup.next_turn() - now, NameLookup::kNextAttempt);
    now = lookup.next_turn();
    lookup.advance(now);
  }
  ASSERT_TRUE(lookup.result());
  EXPECT_EQ(lookup.result()->rcode, dns::Rcode::kServerFailure);
  for (int i = 0; i < 5; ++i) {
    server.serve([](const std::string&) { return std::string(); });
  }
  EXPECT_EQ(server.questions, 3);
  EXPECT_LT(NameLookup::kPatience, std::chrono::seconds(2));
}

}  // namespace
}  // namespace aasm::backend_native
