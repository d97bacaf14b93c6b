#include <linux/netlink.h>

#include <cerrno>

#include <gtest/gtest.h>

#include "network_builder.h"

namespace aasm::backend_native {
namespace {

using schema::Domain;
using schema::ObjectType;
using testing::egress;
using testing::no_names;
using testing::spec_of;
using testing::whole;

struct SocketRow {
  int family;
  int type;
  int protocol;
  int os_errno;  // 0: open
  const char* object;
};

TEST(JudgeSocketTest, EveryKindOfSocketHasARule) {
  const std::vector<SocketRow> rows = {
      {AF_INET, SOCK_STREAM, 0, 0, ""},
      {AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP, 0, ""},
      {AF_INET6, SOCK_STREAM, 262, 0, ""},
      {AF_INET, SOCK_DGRAM, 0, 0, ""},
      {AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, IPPROTO_UDP, 0, ""},
      {AF_UNIX, SOCK_STREAM, 0, 0, ""},
      {AF_UNIX, SOCK_SEQPACKET, 0, 0, ""},
      {AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE, 0, ""},
      {AF_NETLINK, SOCK_DGRAM, NETLINK_ROUTE, 0, ""},
      {AF_NETLINK, SOCK_RAW, NETLINK_AUDIT, EPROTONOSUPPORT, "AF_NETLINK SOCK_RAW 9"},
      {AF_NETLINK, SOCK_DGRAM, NETLINK_SOCK_DIAG, EPROTONOSUPPORT, "AF_NETLINK SOCK_DGRAM 4"},
      {AF_INET, SOCK_RAW, IPPROTO_ICMP, EPERM, "AF_INET SOCK_RAW 1"},
      {AF_INET6, SOCK_RAW, IPPROTO_RAW, EPERM, "AF_INET6 SOCK_RAW 255"},
      {AF_INET, SOCK_PACKET, 768, EPERM, "AF_INET SOCK_PACKET 768"},
      {AF_PACKET, SOCK_RAW | SOCK_NONBLOCK, 768, EPERM, "AF_PACKET SOCK_RAW 768"},
      {AF_PACKET, SOCK_DGRAM, 0, EPERM, "AF_PACKET SOCK_DGRAM 0"},
      {AF_INET, SOCK_DGRAM, IPPROTO_ICMP, EACCES, "AF_INET SOCK_DGRAM 1"},
      {AF_INET6, SOCK_DGRAM, IPPROTO_ICMPV6, EACCES, "AF_INET6 SOCK_DGRAM 58"},
      {AF_INET, SOCK_STREAM, IPPROTO_SCTP, EPROTONOSUPPORT, "AF_INET SOCK_STREAM 132"},
      {AF_INET, SOCK_SEQPACKET, 0, EPROTONOSUPPORT, "AF_INET SOCK_SEQPACKET 0"},
      {AF_INET, SOCK_STREAM, IPPROTO_UDP, EPROTONOSUPPORT, "AF_INET SOCK_STREAM 17"},
      {AF_INET, SOCK_DGRAM, IPPROTO_UDPLITE, EPROTONOSUPPORT, "AF_INET SOCK_DGRAM 136"},
      {AF_INET, 6, 33, EPROTONOSUPPORT, "AF_INET type 6 33"},
      {AF_VSOCK, SOCK_STREAM, 0, EAFNOSUPPORT, "AF_VSOCK SOCK_STREAM 0"},
      {AF_ALG, SOCK_SEQPACKET, 0, EAFNOSUPPORT, "AF_ALG SOCK_SEQPACKET 0"},
      {44, SOCK_RAW, 0, EAFNOSUPPORT, "family 44 SOCK_RAW 0"},
      {-1, -1, -1, EAFNOSUPPORT, "family -1 type 15 -1"},
  };
  const NetworkSpec spec = spec_of(egress({whole("c", "connect"), whole("b", "bind")}));
  for (const SocketRow& row : rows) {
    const NetworkVerdict verdict = judge_socket(spec, row.family, row.type, row.protocol);
    const std::string why = std::to_string(row.family) + " " + std::to_string(row.type) + " " +
                            std::to_string(row.protocol);
    EXPECT_EQ(verdict.perform, row.os_errno == 0) << why;
    EXPECT_EQ(verdict.recorded, row.os_errno != 0) << why;
    EXPECT_EQ(verdict.event.os_errno, row.os_errno) << why;
    EXPECT_EQ(verdict.event.object.name, row.object) << why;
    if (row.os_errno != 0) {
      EXPECT_EQ(verdict.event.domain, Domain::kNetworkEgress) << why;
      EXPECT_EQ(verdict.event.operation, "socket") << why;
      EXPECT_EQ(verdict.event.rule, "network.allowlist") << why;
      EXPECT_TRUE(verdict.event.object.check().has_value()) << why;
    }
  }
}

TEST(JudgeSocketTest, OnlyAStatementClosesSockets) {
  const NetworkSpec open = make_network_spec(nullptr, nullptr).value();
  EXPECT_TRUE(judge_socket(open, AF_PACKET, SOCK_RAW, 0).perform);
  const schema::Requirement names = no_names();
  const NetworkSpec only_names = make_network_spec(nullptr, &names).value();
  const NetworkVerdict verdict = judge_socket(only_names, AF_PACKET, SOCK_RAW, 0);
  EXPECT_FALSE(verdict.perform);
  EXPECT_EQ(verdict.event.domain, Domain::kNameResolution);
  EXPECT_EQ(verdict.event.rule, "name_resolution.allow");
}

TEST(JudgeOptionTest, OptionsThatCarryARouteAreRefusedAndOthersAreNot) {
  const NetworkSpec spec = spec_of(egress({}));
  for (const auto& [level, option] : {std::pair{IPPROTO_IP, 4},
                                      {IPPROTO_IP, 7},
                                      {IPPROTO_IPV6, 57},
                                      {IPPROTO_IPV6, 5},
                                      {IPPROTO_IPV6, 6},
                                      {IPPROTO_IPV6, 32}}) {
    const NetworkVerdict verdict = judge_option(spec, level, option);
    EXPECT_FALSE(verdict.perform) << level << " " << option;
    EXPECT_EQ(verdict.event.os_errno, EPERM);
    EXPECT_EQ(verdict.event.operation, "socket");
  }
  for (const auto& [level, option] : {std::pair{SOL_SOCKET, SO_REUSEADDR},
                                      {IPPROTO_IP, IP_TTL},
                                      {IPPROTO_IPV6, IPV6_V6ONLY},
                                      {IPPROTO_TCP, 4},
                                      {IPPROTO_TCP, 57}}) {
    EXPECT_TRUE(judge_option(spec, level, option).perform) << level << " " << option;
  }
}

TEST(JudgeUnixTest, SocketsBehindWhichNamesAreLookedUpAreClosedByPathAndByInode) {
  const schema::Requirement names = no_names();
  NetworkSpec spec = make_network_spec(nullptr, &names).value();
  spec.resolvers = {{"/run/nscd/socket", 5, 77}};
  const auto judge = [&](NetworkCall call, const ResolvedSocket& socket) {
    return judge_unix(spec, call, socket);
  };
  const NetworkVerdict by_path =
      judge(NetworkCall::kConnect, {"/run/systemd/resolve/io.systemd.Resolve", 9, 9, ""});
  EXPECT_FALSE(by_path.perform);
  EXPECT_EQ(by_path.event.domain, Domain::kNameResolution);
  EXPECT_EQ(by_path.event.operation, "resolve");
  EXPECT_EQ(by_path.event.rule, "name_resolution.allow");
  EXPECT_EQ(by_path.event.os_errno, EACCES);
  EXPECT_EQ(by_path.event.object.type, ObjectType::kSocket);
  EXPECT_EQ(by_path.event.object.name, "/run/systemd/resolve/io.systemd.Resolve");
  const NetworkVerdict by_inode = judge(NetworkCall::kSend, {"/tmp/link", 5, 77, ""});
  EXPECT_FALSE(by_inode.perform);
  EXPECT_EQ(by_inode.event.object.name, "/run/nscd/socket");
  EXPECT_TRUE(judge(NetworkCall::kConnect, {"/tmp/link", 6, 77, ""}).perform);
  EXPECT_TRUE(judge(NetworkCall::kConnect, {"/tmp/link", 5, 78, ""}).perform);
  EXPECT_TRUE(judge(NetworkCall::kBind, {"/run/nscd/socket", 5, 77, ""}).perform);
  EXPECT_TRUE(judge(NetworkCall::kConnect, {"", 0, 0, "/run/nscd/socket"}).perform);
  NetworkSpec unstated = spec_of(egress({}));
  unstated.resolvers = spec.resolvers;
  EXPECT_TRUE(judge_unix(unstated, NetworkCall::kConnect, {"/run/nscd/socket", 5, 77, ""}).perform);
}

}  // namespace
}  // namespace aasm::backend_native
