#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <netinet/in.h>

#include "aasm/process/landlock.h"
#include "aasm/process/pidfd.h"
#include "aasm/process/proc_status.h"

#include "as_user.h"
#include "broker_client.h"
#include "launch_harness.h"
#include "temp_dir.h"

namespace aasm::test {
namespace {

namespace landlock = process::landlock;
using backend_native::BrokerAnswer;
using backend_native::BrokerClient;
using backend_native::BrokerOrder;
using process::Fd;
using wire::BrokerKind;

Fd scope_ruleset(std::uint64_t net) {
  const landlock::RulesetAttr attr{0, net, landlock::kScopeSignal};
  return Fd(static_cast<int>(landlock::create_ruleset(attr)));
}

// A launch child that waits for its program, and its broker.
struct Brokered {
  Launch launch;
  BrokerClient broker;

  // Sends and waits for the answer.
  BrokerAnswer call(const BrokerOrder& order) {
    const std::uint64_t id = start(order);
    BrokerAnswer answer = wait();
    EXPECT_EQ(answer.call, id);
    return answer;
  }
  std::uint64_t start(const BrokerOrder& order) {
    const auto sent = broker.send(++last_, order);
    EXPECT_TRUE(sent && *sent);
    return last_;
  }
  // The next answer; call 0 when none comes within the time.
  BrokerAnswer wait(std::chrono::milliseconds timeout = kPatience) {
    const auto readable = process::wait_readable(process::BorrowedFd(broker.fd()), timeout);
    if (!readable || !*readable) {
      return {};
    }
    auto answer = broker.receive();
    return answer && *answer ? std::move(**answer) : BrokerAnswer{};
  }

 private:
  std::uint64_t last_ = 0;
};

schema::Result<Brokered> start_brokered() {
  const auto probe = open_probe_program();
  const Fd outer = scope_ruleset(0);
  const Fd inner = scope_ruleset(landlock::kBindTcp | landlock::kConnectTcp);
  auto spec = probe.spec({"stay", "1", "1"});
  spec.rulesets = {{outer.get(), 0}, {inner.get(), 0}};
  spec.broker = true;
  Brokered brokered;
  brokered.launch = AASM_TRY(start_launch(spec));
  brokered.broker = BrokerClient(brokered.launch.client->take_broker_socket());
  brokered.launch.answerer->wait_ready();
  return brokered;
}

// A TCP listener on loopback and its address as bytes.
struct TcpListener {
  Fd fd;
  std::string address;
};

TcpListener listen_tcp() {
  TcpListener listener;
  listener.fd = Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ::bind(listener.fd.get(), reinterpret_cast<sockaddr*>(&address), size);
  ::listen(listener.fd.get(), 8);
  ::getsockname(listener.fd.get(), reinterpret_cast<sockaddr*>(&address), &size);
  listener.address.assign(reinterpret_cast<const char*>(&address), size);
  return listener;
}

BrokerOrder order_of(BrokerKind kind, const Fd& socket, std::string name = {},
                     std::uint32_t flags = 0) {
  BrokerOrder order;
  order.kind = kind;
  order.socket = socket.get();
  order.name = std::move(name);
  order.flags = flags;
  return order;
}

class BrokerTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (landlock::abi_version() < landlock::kSignalScopeAbi) {
      GTEST_SKIP() << "Landlock here has no scopes";
    }
  }
  static void expect_passes(const std::function<std::string(Brokered&)>& body) {
    EXPECT_EQ(run_in_child(GetParam(),
                           [&body]() -> std::string {
                             auto brokered = start_brokered();
                             AASM_CHILD_CHECK(brokered.has_value(), brokered.error().message());
                             return body(*brokered);
                           }),
              "");
  }
};

INSTANTIATE_TEST_SUITE_P(Users, BrokerTest, testing::Bool(), [](const auto& row) {
  return std::string(row.param ? "Nobody" : "Caller");
});

TEST_P(BrokerTest, ConnectsTheSocketItWasGiven) {
  expect_passes([](Brokered& brokered) -> std::string {
    const TcpListener listener = listen_tcp();
    const Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const auto answer = brokered.call(
        order_of(BrokerKind::kConnect, socket, listener.address, wire::kBrokerOwnThread));
    AASM_CHILD_CHECK(answer.result == 0 && !answer.fault, std::to_string(answer.result));
    sockaddr_storage peer{};
    socklen_t size = sizeof peer;
    AASM_CHILD_CHECK(::getpeername(socket.get(), reinterpret_cast<sockaddr*>(&peer), &size) == 0,
                     "");
    AASM_CHILD_CHECK(std::memcmp(&peer, listener.address.data(), size) == 0, "");
    return {};
  });
}

TEST_P(BrokerTest, AnswersWhatTheKernelAnswers) {
  expect_passes([](Brokered& brokered) -> std::string {
    TcpListener listener = listen_tcp();
    listener.fd.reset();
    const Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const auto refused = brokered.call(
        order_of(BrokerKind::kConnect, socket, listener.address, wire::kBrokerOwnThread));
    AASM_CHILD_CHECK(refused.result == -ECONNREFUSED, std::to_string(refused.result));
    const Fd other(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const auto bound = brokered.call(order_of(BrokerKind::kBind, other, listener.address));
    AASM_CHILD_CHECK(bound.result == 0, std::to_string(bound.result));
    const auto again = brokered.call(order_of(BrokerKind::kBind, other, listener.address));
    AASM_CHILD_CHECK(again.result == -EINVAL, std::to_string(again.result));
    BrokerOrder listen = order_of(BrokerKind::kListen, other);
    listen.backlog = 4;
    AASM_CHILD_CHECK(brokered.call(listen).result == 0, "");
    return {};
  });
}

// Fills the socket, then asks for one send that has to wait.
std::uint64_t start_waiting_send(Brokered& brokered, const Fd& socket) {
  const std::string block(4096, 'x');
  while (::send(socket.get(), block.data(), block.size(), MSG_DONTWAIT) > 0) {
  }
  BrokerOrder order =
      order_of(BrokerKind::kSend, socket, {}, wire::kBrokerMayWait | wire::kBrokerStream);
  order.data = block;
  return brokered.start(order);
}

TEST_P(BrokerTest, WaitingSendHoldsUpNoOtherCallAndEndsByCancel) {
  expect_passes([](Brokered& brokered) -> std::string {
    int ends[2] = {-1, -1};
    AASM_CHILD_CHECK(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0, "");
    const Fd ours(ends[0]);
    const Fd theirs(ends[1]);
    const std::uint64_t waiting = start_waiting_send(brokered, ours);
    const Fd other(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    const auto bound = brokered.call(order_of(BrokerKind::kBind, other, listen_tcp().address));
    AASM_CHILD_CHECK(bound.result == 0, std::to_string(bound.result));
    BrokerAnswer answer;
    for (int i = 0; i < 100 && answer.call == 0; ++i) {
      AASM_CHILD_CHECK(brokered.broker.cancel(waiting).has_value(), "");
      answer = brokered.wait(std::chrono::milliseconds(20));
    }
    AASM_CHILD_CHECK(answer.call == waiting && answer.result == -EINTR,
                     std::to_string(answer.result));
    return {};
  });
}

TEST_P(BrokerTest, WaitingSendGoesOnWhenThereIsRoomAndSendsAllOfIt) {
  expect_passes([](Brokered& brokered) -> std::string {
    int ends[2] = {-1, -1};
    AASM_CHILD_CHECK(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0, "");
    const Fd ours(ends[0]);
    Fd theirs(ends[1]);
    start_waiting_send(brokered, ours);
    AASM_CHILD_CHECK(brokered.wait(std::chrono::milliseconds(50)).call == 0, "it did not wait");
    char buffer[65536];
    while (::recv(theirs.get(), buffer, sizeof buffer, MSG_DONTWAIT) > 0) {
    }
    const auto answer = brokered.wait();
    AASM_CHILD_CHECK(answer.result == 4096, std::to_string(answer.result));
    BrokerOrder order = order_of(BrokerKind::kSend, ours, {}, wire::kBrokerMayWait);
    order.data = "x";
    theirs.reset();
    AASM_CHILD_CHECK(brokered.call(order).result == -EPIPE, "and no SIGPIPE");
    return {};
  });
}

TEST_P(BrokerTest, PassesDescriptorsOnAndKeepsNone) {
  expect_passes([](Brokered& brokered) -> std::string {
    int ends[2] = {-1, -1};
    AASM_CHILD_CHECK(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0, "");
    const Fd ours(ends[0]);
    const Fd theirs(ends[1]);
    process::Pipe pipe = std::move(process::make_pipe()).value();
    for (int i = 0; i < 300; ++i) {
      BrokerOrder order = order_of(BrokerKind::kSend, ours, {}, wire::kBrokerMayWait);
      order.data = "d";
      order.rights = {pipe.write_end.get(), pipe.write_end.get()};
      AASM_CHILD_CHECK(brokered.call(order).result == 1, "");
      char byte = 0;
      iovec piece = {&byte, 1};
      alignas(cmsghdr) char control[CMSG_SPACE(2 * sizeof(int))] = {};
      msghdr header = {};
      header.msg_iov = &piece;
      header.msg_iovlen = 1;
      header.msg_control = control;
      header.msg_controllen = sizeof control;
      AASM_CHILD_CHECK(::recvmsg(theirs.get(), &header, MSG_CMSG_CLOEXEC) == 1, "");
      int passed[2] = {-1, -1};
      AASM_CHILD_CHECK(CMSG_FIRSTHDR(&header) != nullptr, "no descriptors came");
      std::memcpy(passed, CMSG_DATA(CMSG_FIRSTHDR(&header)), sizeof passed);
      AASM_CHILD_CHECK(passed[0] >= 0 && passed[1] >= 0, "");
      ::close(passed[0]);
      ::close(passed[1]);
    }
    // Nobody else holds the write end any more, so its end is seen.
    pipe.write_end.reset();
    pollfd end = {pipe.read_end.get(), POLLIN, 0};
    AASM_CHILD_CHECK(::poll(&end, 1, 10'000) == 1 && (end.revents & POLLHUP) != 0, "");
    return {};
  });
}

TEST_P(BrokerTest, ResolvesANameInTheGivenDirectoryAndConnectsToWhatItFound) {
  expect_passes([](Brokered& brokered) -> std::string {
    const TempDir home;
    const Fd directory(::open(home.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    const Fd server(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strcpy(address.sun_path, "sock");
    BrokerOrder bind =
        order_of(BrokerKind::kBind, server, {reinterpret_cast<const char*>(&address), 2 + 5},
                 wire::kBrokerOwnThread);
    bind.directory = directory.get();
    bind.mode_mask = 0077;
    const auto bound = brokered.call(bind);
    AASM_CHILD_CHECK(bound.result == 0, std::to_string(bound.result));
    struct stat made {};
    AASM_CHILD_CHECK(::stat(home.file("sock").c_str(), &made) == 0, "");
    AASM_CHILD_CHECK((made.st_mode & 0777) == 0700, "the mask is not the caller's");
    AASM_CHILD_CHECK(::listen(server.get(), 4) == 0, "");

    const Fd client(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const Fd target(::openat(directory.get(), "sock", O_PATH | O_CLOEXEC));
    BrokerOrder connect = order_of(BrokerKind::kConnect, client, {}, wire::kBrokerOwnThread);
    connect.target = target.get();
    const auto connected = brokered.call(connect);
    AASM_CHILD_CHECK(connected.result == 0, std::to_string(connected.result));
    return {};
  });
}

TEST_P(BrokerTest, IsAChildOfTheWardenWithoutADumpAndGoesLastAndUncounted) {
  expect_passes([](Brokered& brokered) -> std::string {
    auto& client = *brokered.launch.client;
    const pid_t broker = client.broker_pid();
    AASM_CHILD_CHECK(broker > 0, "");
    const auto stat = process::read_proc_stat(broker);
    AASM_CHILD_CHECK(stat && stat->ppid == client.warden_pid(), "");
    const auto killed = client.kill_tree(kPatience);
    AASM_CHILD_CHECK(killed && *killed == 0, "the broker was counted");
    AASM_CHILD_CHECK(::kill(broker, 0) != 0 && errno == ESRCH, "the broker is left");
    AASM_CHILD_CHECK(!brokered.broker.receive().has_value(), "no end of file");
    return {};
  });
}

TEST_P(BrokerTest, IsNotCountedEitherWhereTheWardenWasKilled) {
  expect_passes([](Brokered& brokered) -> std::string {
    auto& client = *brokered.launch.client;
    ::kill(client.warden_pid(), SIGKILL);
    const auto killed = client.kill_tree(kPatience);
    AASM_CHILD_CHECK(killed.has_value(), killed.error().message());
    AASM_CHILD_CHECK(*killed == 1, std::to_string(*killed) + ": the launch child alone");
    AASM_CHILD_CHECK(::kill(client.broker_pid(), 0) != 0 && errno == ESRCH, "the broker is left");
    return {};
  });
}

TEST_P(BrokerTest, EndsWithTheSupervisorsEndOfItsSocket) {
  expect_passes([](Brokered& brokered) -> std::string {
    const auto pidfd = process::pidfd_open(brokered.launch.client->broker_pid());
    AASM_CHILD_CHECK(pidfd.has_value(), "");
    brokered.broker.close();
    const auto ended = process::wait_ended(pidfd->borrow(), kPatience);
    AASM_CHILD_CHECK(ended && *ended, "");
    return {};
  });
}

// More calls wait than the broker has threads for: those beyond are refused, all are answered, and
// the memory stays bounded.
TEST_P(BrokerTest, AsManyWaitAsThereAreThreadsForAndTheRestIsRefused) {
  expect_passes([](Brokered& brokered) -> std::string {
    int ends[2] = {-1, -1};
    AASM_CHILD_CHECK(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0, "");
    const Fd ours(ends[0]);
    Fd theirs(ends[1]);
    constexpr int kAsked = 300;
    int refused = 0;
    int answered = 0;
    std::uint64_t id = start_waiting_send(brokered, ours);
    BrokerOrder order =
        order_of(BrokerKind::kSend, ours, {}, wire::kBrokerMayWait | wire::kBrokerStream);
    order.data = std::string(4096, 'y');
    for (int sent = 1; sent < kAsked;) {
      const auto done = brokered.broker.send(++id, order);
      AASM_CHILD_CHECK(done.has_value(), done.error().message());
      sent += *done ? 1 : 0;
      for (auto answer = brokered.broker.receive(); answer && *answer;
           answer = brokered.broker.receive()) {
        ++answered;
        refused += (*answer)->fault && (*answer)->result == -ENOBUFS ? 1 : 0;
      }
    }
    theirs.reset();
    while (answered < kAsked) {
      const auto answer = brokered.wait();
      AASM_CHILD_CHECK(answer.call != 0, std::to_string(answered) + " answered");
      ++answered;
      refused += answer.fault && answer.result == -ENOBUFS ? 1 : 0;
    }
    AASM_CHILD_CHECK(refused > 0 && refused <= kAsked - static_cast<int>(wire::kMaxBrokerWaiting),
                     std::to_string(refused));
    return {};
  });
}

TEST(BrokerCredentialsTest, ACallIsMadeAsItsCallerOrNotAtAll) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "only root can become somebody else";
  }
  auto brokered = start_brokered();
  ASSERT_TRUE(brokered) << brokered.error().message();
  sockaddr_in low{};
  low.sin_family = AF_INET;
  low.sin_port = htons(71);
  low.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const std::string name(reinterpret_cast<const char*>(&low), sizeof low);
  const Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  BrokerOrder bind = order_of(BrokerKind::kBind, socket, name, wire::kBrokerOwnThread);
  bind.credentials = backend_native::BrokerCredentials{65534, 65534, {}, 0};
  const auto refused = brokered->call(bind);
  EXPECT_EQ(refused.result, -EACCES);
  EXPECT_FALSE(refused.fault);
  // The next thread is root again; capabilities that nobody has are a fault.
  bind.credentials = backend_native::BrokerCredentials{0, 0, {}, ~std::uint64_t{0}};
  const auto fault = brokered->call(bind);
  EXPECT_TRUE(fault.fault);
  EXPECT_LT(fault.result, 0);
}

}  // namespace
}  // namespace aasm::test
