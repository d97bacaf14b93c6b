#include <linux/netlink.h>

#include <cerrno>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "network_builder.h"

namespace aasm::backend_native {
namespace {

using schema::DecisionCause;
using schema::Domain;
using schema::RuleEffect;
using testing::bind_to;
using testing::Bytes;
using testing::cut;
using testing::egress;
using ::testing::HasSubstr;
using testing::host;
using testing::kTcp4;
using testing::kTcp6;
using testing::kUdp4;
using testing::kUdp6;
using testing::no_names;
using testing::range;
using testing::spec_of;
using testing::v4;
using testing::v6;
using testing::whole;
using testing::with_family;

constexpr NetworkCall kConnect = NetworkCall::kConnect;
constexpr NetworkCall kBind = NetworkCall::kBind;
constexpr NetworkCall kSend = NetworkCall::kSend;

// What stands in the record, in one line: "denied 10.0.0.1:80/tcp private by network.allowlist".
std::string said(const NetworkVerdict& verdict) {
  const schema::Event& event = verdict.event;
  std::string text = verdict.perform ? "allowed " : "denied ";
  text += event.object.address ? *event.object.address + ":" + std::to_string(*event.object.port) +
                                     "/" + *event.object.protocol + " " +
                                     std::string(schema::token(*event.object.address_class))
                               : event.object.name;
  return text + " by " + event.rule;
}

struct SpellingRow {
  const char* why;
  SocketFacts socket;
  NetworkCall call;
  Bytes address;
  const char* expected;
};

// Only 127.0.0.1:80 may be reached, over TCP and UDP.
NetworkSpec only_loopback() {
  return spec_of(egress({range("r0", "127.0.0.1:80/tcp"), range("r1", "127.0.0.1:80/udp"),
                         whole("network.bind", "bind")}));
}

TEST(JudgeAddressTest, EverySpellingOfAnAddressIsThatAddress) {
  const std::vector<SpellingRow> rows = {
      {"plain", kTcp4, kConnect, v4("127.0.0.1", 80), "allowed 127.0.0.1:80/tcp loopback by r0"},
      {"mapped", kTcp6, kConnect, v6("::ffff:127.0.0.1", 80),
       "allowed 127.0.0.1:80/tcp loopback by r0"},
      {"unspecified", kTcp4, kConnect, v4("0.0.0.0", 80),
       "allowed 127.0.0.1:80/tcp loopback by r0"},
      {"mapped and unspecified", kTcp6, kConnect, v6("::ffff:0.0.0.0", 80),
       "allowed 127.0.0.1:80/tcp loopback by r0"},
      {"IPv4 on an IPv6 datagram socket", kUdp6, kConnect, v4("127.0.0.1", 80),
       "allowed 127.0.0.1:80/udp loopback by r1"},
      {"a datagram without a family", kUdp4, kSend, with_family(v4("127.0.0.1", 80), AF_UNSPEC),
       "allowed 127.0.0.1:80/udp loopback by r1"},
      {"more bytes than needed", kTcp4, kConnect, cut(v4("127.0.0.1", 80), 128),
       "allowed 127.0.0.1:80/tcp loopback by r0"},
      {"other port", kTcp4, kConnect, v4("127.0.0.1", 81),
       "denied 127.0.0.1:81/tcp loopback by network.allowlist"},
      {"port 0", kTcp4, kConnect, v4("127.0.0.1", 0),
       "denied 127.0.0.1:0/tcp loopback by network.allowlist"},
      {"IPv6 loopback is another address", kTcp6, kConnect, v6("::1", 80),
       "denied [::1]:80/tcp loopback by network.allowlist"},
      {"IPv6 unspecified", kTcp6, kConnect, v6("::", 80),
       "denied [::1]:80/tcp loopback by network.allowlist"},
      {"another loopback address", kTcp4, kConnect, v4("127.0.0.2", 80),
       "denied 127.0.0.2:80/tcp loopback by network.allowlist"},
      {"compatible, which is not mapped", kTcp6, kConnect, v6("::127.0.0.1", 80),
       "denied [::127.0.0.1]:80/tcp translated by network.allowlist"},
      {"NAT64", kTcp6, kConnect, v6("64:ff9b::7f00:1", 80),
       "denied [64:ff9b::7f00:1]:80/tcp translated by network.allowlist"},
      {"metadata", kTcp4, kConnect, v4("169.254.169.254", 80),
       "denied 169.254.169.254:80/tcp metadata by network.allowlist"},
      {"metadata, mapped", kTcp6, kConnect, v6("::ffff:169.254.169.254", 80),
       "denied 169.254.169.254:80/tcp metadata by network.allowlist"},
      {"metadata of IPv6", kTcp6, kConnect, v6("fd00:ec2::254", 80),
       "denied [fd00:ec2::254]:80/tcp metadata by network.allowlist"},
      {"a datagram", kUdp4, kSend, v4("10.0.0.1", 443),
       "denied 10.0.0.1:443/udp private by network.allowlist"},
      {"an IPv6 datagram to IPv4", kUdp6, kSend, v4("10.0.0.1", 443),
       "denied 10.0.0.1:443/udp private by network.allowlist"},
      {"a datagram without a family to elsewhere", kUdp4, kSend,
       with_family(v4("10.0.0.1", 80), AF_UNSPEC),
       "denied 10.0.0.1:80/udp private by network.allowlist"},
      {"fast open", kTcp4, kSend, v4("10.0.0.1", 443),
       "denied 10.0.0.1:443/tcp private by network.allowlist"},
      {"MPTCP",
       {AF_INET, SOCK_STREAM, 262},
       kConnect,
       v4("10.0.0.1", 443),
       "denied 10.0.0.1:443/tcp private by network.allowlist"},
  };
  const NetworkSpec spec = only_loopback();
  for (const SpellingRow& row : rows) {
    const NetworkVerdict verdict = judge_address(spec, row.call, row.socket, row.address);
    std::string text = said(verdict);
    if (verdict.event.object.address &&
        verdict.event.object.address->find(':') != std::string::npos) {
      const std::string& plain = *verdict.event.object.address;
      text.replace(text.find(plain), plain.size(), "[" + plain + "]");
    }
    EXPECT_EQ(text, row.expected) << row.why;
    EXPECT_EQ(verdict.event.os_errno, verdict.perform ? 0 : EACCES) << row.why;
    EXPECT_EQ(verdict.event.operation, "connect") << row.why;
    EXPECT_EQ(verdict.event.cause, DecisionCause::kPolicy) << row.why;
    EXPECT_TRUE(verdict.recorded) << row.why;
    EXPECT_TRUE(schema::EventObject(verdict.event.object).check().has_value()) << row.why;
  }
}

struct RefusedRow {
  const char* why;
  SocketFacts socket;
  NetworkCall call;
  Bytes address;
  int os_errno;
};

TEST(JudgeAddressTest, WhatTheKernelWouldNotReadIsAFaultAndNoDenial) {
  const std::vector<RefusedRow> rows = {
      {"nothing", kTcp4, kConnect, {}, EINVAL},
      {"one byte", kTcp4, kConnect, {AF_INET}, EINVAL},
      {"too short", kTcp4, kConnect, cut(v4("127.0.0.1", 80), 15), EINVAL},
      {"too short for IPv6", kTcp6, kConnect, cut(v6("::1", 80), 23), EINVAL},
      {"IPv6 on IPv4", kTcp4, kConnect, v6("::1", 80), EAFNOSUPPORT},
      {"IPv4 on IPv6", kTcp6, kConnect, cut(v4("127.0.0.1", 80), 28), EAFNOSUPPORT},
      {"IPv4 on IPv6, to bind", kUdp6, kBind, cut(v4("127.0.0.1", 80), 28), EAFNOSUPPORT},
      {"a path", kTcp4, kConnect, with_family(v4("127.0.0.1", 80), AF_UNIX), EAFNOSUPPORT},
      {"no family, to bind an address", kTcp4, kBind, with_family(v4("127.0.0.1", 80), AF_UNSPEC),
       EAFNOSUPPORT},
      {"no family, to send by TCP", kTcp4, kSend, with_family(v4("127.0.0.1", 80), AF_UNSPEC),
       EOPNOTSUPP},
      {"no family, to send by IPv6", kUdp6, kSend, with_family(v6("::1", 80), AF_UNSPEC),
       EAFNOSUPPORT},
      {"longer than any address", kTcp4, kConnect, cut(v4("127.0.0.1", 80), 129), EINVAL},
  };
  const NetworkSpec spec = spec_of(egress({whole("c", "connect"), whole("b", "bind")}));
  for (const RefusedRow& row : rows) {
    const NetworkVerdict verdict = judge_address(spec, row.call, row.socket, row.address);
    EXPECT_FALSE(verdict.perform) << row.why;
    EXPECT_EQ(verdict.event.os_errno, row.os_errno) << row.why;
    EXPECT_EQ(verdict.event.cause, DecisionCause::kFault) << row.why;
    EXPECT_FALSE(verdict.event.object.address) << row.why;
  }
}

TEST(JudgeAddressTest, DissolvingAConnectionReachesNothingAndIsNotRecorded) {
  for (const SocketFacts& socket : {kTcp4, kTcp6, kUdp4, kUdp6}) {
    const NetworkVerdict verdict =
        judge_address(only_loopback(), kConnect, socket, with_family(v4("1.2.3.4", 9), AF_UNSPEC));
    EXPECT_TRUE(verdict.perform);
    EXPECT_FALSE(verdict.recorded);
    EXPECT_EQ(verdict.address[0], AF_UNSPEC);
  }
}

TEST(JudgeAddressTest, TheCallIsMadeWithTheAddressThatWasJudged) {
  const NetworkSpec spec = spec_of(egress({whole("c", "connect"), whole("b", "bind")}));
  const auto made_with = [&](NetworkCall call, const SocketFacts& socket, const Bytes& address) {
    return judge_address(spec, call, socket, address).address;
  };
  EXPECT_EQ(made_with(kConnect, kTcp4, v4("0.0.0.0", 80)), v4("127.0.0.1", 80));
  EXPECT_EQ(made_with(kConnect, kTcp6, v6("::", 80)), v6("::1", 80));
  EXPECT_EQ(made_with(kConnect, kTcp6, v6("::ffff:0.0.0.0", 80)), v6("::ffff:127.0.0.1", 80));
  EXPECT_EQ(made_with(kSend, kUdp4, with_family(v4("10.0.0.1", 80), AF_UNSPEC)),
            v4("10.0.0.1", 80));
  EXPECT_EQ(made_with(kBind, kTcp4, with_family(v4("0.0.0.0", 80), AF_UNSPEC)), v4("0.0.0.0", 80));
  EXPECT_EQ(made_with(kBind, kTcp6, v6("::", 80)), v6("::", 80));
  Bytes labelled = v6("2001:db8::1", 80);
  labelled[7] = 0x2a;  // sin6_flowinfo
  EXPECT_EQ(made_with(kConnect, kTcp6, labelled), v6("2001:db8::1", 80));
  Bytes scoped = v6("fe80::1", 80);
  scoped[24] = 3;  // sin6_scope_id
  EXPECT_EQ(made_with(kConnect, kTcp6, scoped), scoped);
}

// Case 56; that getifaddrs works, tests/cli/network_test.py.
TEST(JudgeAddressTest, DenyOutranksAllowAndTheNarrowestIsCited) {
  const NetworkSpec spec =
      spec_of(egress({range("wide", "10.0.0.0/8:5432/tcp"), range("narrow", "10.1.0.0/16:5432/tcp"),
                      range("not-16", "10.0.0.0/16:5432/tcp", RuleEffect::kDeny),
                      range("not-1", "10.0.0.1:5432/tcp", RuleEffect::kDeny)}));
  const auto to = [&](const char* text, std::uint16_t port) {
    return said(judge_address(spec, kConnect, kTcp4, v4(text, port)));
  };
  EXPECT_EQ(to("10.9.0.1", 5432), "allowed 10.9.0.1:5432/tcp private by wide");
  EXPECT_EQ(to("10.1.0.1", 5432), "allowed 10.1.0.1:5432/tcp private by narrow");
  EXPECT_EQ(to("10.0.7.7", 5432), "denied 10.0.7.7:5432/tcp private by not-16");
  EXPECT_EQ(to("10.0.0.1", 5432), "denied 10.0.0.1:5432/tcp private by not-1");
  EXPECT_EQ(to("10.9.0.1", 5433), "denied 10.9.0.1:5433/tcp private by network.allowlist");
  EXPECT_EQ(to("11.0.0.1", 5432), "denied 11.0.0.1:5432/tcp public by network.allowlist");
  EXPECT_FALSE(judge_address(spec, kConnect, kUdp4, v4("10.9.0.1", 5432)).perform);
}

TEST(JudgeAddressTest, AStarIsEveryHostOverTcpAtItsPort) {
  const NetworkSpec spec = spec_of(egress({host("star", "*:443"), host("one", "192.0.2.7:8443")}));
  EXPECT_TRUE(judge_address(spec, kConnect, kTcp4, v4("10.0.0.1", 443)).perform);
  EXPECT_TRUE(judge_address(spec, kConnect, kTcp6, v6("2001:db8::1", 443)).perform);
  EXPECT_TRUE(judge_address(spec, kConnect, kTcp4, v4("192.0.2.7", 8443)).perform);
  EXPECT_FALSE(judge_address(spec, kConnect, kTcp4, v4("192.0.2.8", 8443)).perform);
  EXPECT_FALSE(judge_address(spec, kConnect, kTcp4, v4("10.0.0.1", 80)).perform);
  EXPECT_FALSE(judge_address(spec, kConnect, kUdp4, v4("10.0.0.1", 443)).perform) << "QUIC";
}

TEST(JudgeAddressTest, BindingAndListeningAskTheRulesOfBind) {
  const NetworkSpec spec = spec_of(egress(
      {whole("network", "connect"), bind_to("b0", "127.0.0.1:8080"), bind_to("b1", "*:9090")}));
  const auto at = [&](NetworkCall call, const SocketFacts& socket, const Bytes& address) {
    const NetworkVerdict verdict = judge_address(spec, call, socket, address);
    EXPECT_EQ(verdict.event.operation, "bind");
    return said(verdict);
  };
  EXPECT_EQ(at(kBind, kTcp4, v4("127.0.0.1", 8080)), "allowed 127.0.0.1:8080/tcp loopback by b0");
  EXPECT_EQ(at(kBind, kUdp4, v4("127.0.0.1", 8080)), "allowed 127.0.0.1:8080/udp loopback by b0");
  EXPECT_EQ(at(kBind, kTcp6, v6("::ffff:127.0.0.1", 8080)),
            "allowed 127.0.0.1:8080/tcp loopback by b0");
  EXPECT_EQ(at(kBind, kTcp4, v4("0.0.0.0", 8080)),
            "denied 0.0.0.0:8080/tcp unspecified by network.allowlist");
  EXPECT_EQ(at(kBind, kTcp6, v6("::", 9090)), "allowed :::9090/tcp unspecified by b1");
  EXPECT_EQ(at(kBind, kTcp4, v4("127.0.0.1", 0)),
            "denied 127.0.0.1:0/tcp loopback by network.allowlist");
  EXPECT_EQ(at(NetworkCall::kListen, kTcp4, v4("0.0.0.0", 0)),
            "denied 0.0.0.0:0/tcp unspecified by network.allowlist");
  EXPECT_EQ(at(NetworkCall::kListen, kTcp4, v4("127.0.0.1", 8080)),
            "allowed 127.0.0.1:8080/tcp loopback by b0");
}

TEST(JudgeAddressTest, WithoutAStatementNothingIsRefusedAndNothingRecorded) {
  const NetworkSpec open = make_network_spec(nullptr, nullptr).value();
  const NetworkVerdict verdict = judge_address(open, kConnect, kTcp4, v4("10.0.0.1", 80));
  EXPECT_TRUE(verdict.perform);
  EXPECT_FALSE(verdict.recorded);
  EXPECT_EQ(verdict.address, v4("10.0.0.1", 80));
}

TEST(JudgeAddressTest, LookupsAreRefusedAsSuchWhereOnlyTheyAreClosed) {
  const schema::Requirement names = no_names();
  const NetworkSpec only_names = make_network_spec(nullptr, &names).value();
  const NetworkVerdict lookup = judge_address(only_names, kSend, kUdp4, v4("9.9.9.9", 53));
  EXPECT_FALSE(lookup.perform);
  EXPECT_EQ(lookup.event.domain, Domain::kNameResolution);
  EXPECT_EQ(lookup.event.operation, "resolve");
  EXPECT_EQ(lookup.event.rule, "name_resolution.allow");
  EXPECT_EQ(lookup.event.object.address, "9.9.9.9");
  for (const std::uint16_t port : std::vector<std::uint16_t>{853, 5353, 5355, 137}) {
    EXPECT_FALSE(judge_address(only_names, kConnect, kTcp4, v4("9.9.9.9", port)).perform);
  }
  const NetworkVerdict other = judge_address(only_names, kConnect, kTcp4, v4("9.9.9.9", 443));
  EXPECT_TRUE(other.perform);
  EXPECT_FALSE(other.recorded);
  EXPECT_TRUE(judge_address(only_names, kBind, kUdp4, v4("0.0.0.0", 5353)).perform);
}

TEST(JudgeAddressTest, ARuleThatNamesThePortOfLookupsOpensItAndTheWholeDoesNot) {
  const schema::Requirement names = no_names();
  const schema::Requirement open = egress({whole("network", "connect")});
  const schema::Requirement named = egress({range("dns", "10.0.0.2:53/udp")});
  const NetworkSpec with_whole = make_network_spec(&open, &names).value();
  const NetworkSpec with_rule = make_network_spec(&named, &names).value();
  EXPECT_EQ(judge_address(with_whole, kSend, kUdp4, v4("10.0.0.2", 53)).event.domain,
            Domain::kNameResolution);
  EXPECT_TRUE(judge_address(with_whole, kSend, kUdp4, v4("10.0.0.2", 54)).perform);
  EXPECT_TRUE(judge_address(with_rule, kSend, kUdp4, v4("10.0.0.2", 53)).perform);
  EXPECT_EQ(said(judge_address(with_rule, kSend, kUdp4, v4("10.0.0.3", 53))),
            "denied 10.0.0.3:53/udp private by network.allowlist");
}

TEST(JudgeAddressTest, ASocketThatCouldNotHaveBeenMadeHereReachesNothing) {
  const NetworkSpec spec = spec_of(egress({whole("c", "connect"), whole("b", "bind")}));
  const std::vector<SocketFacts> inherited = {
      {AF_INET, SOCK_RAW, IPPROTO_TCP},     {AF_INET, SOCK_DGRAM, IPPROTO_ICMP},
      {AF_INET, SOCK_STREAM, IPPROTO_SCTP}, {AF_INET, SOCK_DGRAM, IPPROTO_UDPLITE},
      {AF_PACKET, SOCK_RAW, 768},           {AF_VSOCK, SOCK_STREAM, 0},
      {AF_NETLINK, SOCK_RAW, NETLINK_AUDIT}};
  for (const SocketFacts& socket : inherited) {
    const NetworkVerdict verdict = judge_address(spec, kConnect, socket, v4("127.0.0.1", 80));
    EXPECT_FALSE(verdict.perform) << socket.family << " " << socket.protocol;
    EXPECT_EQ(verdict.event.os_errno, EACCES);
    EXPECT_EQ(verdict.event.rule, "network.allowlist");
    EXPECT_EQ(verdict.event.object.type, schema::ObjectType::kSocket);
  }
  EXPECT_TRUE(judge_address(spec, kBind, {AF_NETLINK, SOCK_RAW, NETLINK_ROUTE}, Bytes(12)).perform);
}

struct ObstacleRow {
  const char* why;
  schema::PolicyRule rule;
  const char* says;
};

TEST(NetworkSpecTest, WhatCannotBeCarriedOutIsNamed) {
  const std::vector<ObstacleRow> rows = {
      {"a name of loopback", host("r", "localhost:443"), "which no name opens"},
      {"another of them", range("r", "db.localhost:5432/tcp"), "which no name opens"},
      {"no address", range("r", "300.1.1.1:5432/tcp"), "neither a name nor an address"},
      {"no protocol", range("r", "10.0.0.1:5432"), "/tcp or /udp"},
      {"an operation of a later version",
       testing::net_rule("r", RuleEffect::kAllow, "listen", schema::SelectorType::kPort, "*:80"),
       "operation listen"},
      {"a path",
       testing::net_rule("r", RuleEffect::kAllow, "connect", schema::SelectorType::kPathPrefix,
                         "/x"),
       "selector path_prefix"},
  };
  for (const ObstacleRow& row : rows) {
    const schema::Requirement requirement = egress({row.rule});
    const schema::Result<NetworkSpec> spec = make_network_spec(&requirement, nullptr);
    ASSERT_FALSE(spec) << row.why;
    EXPECT_THAT(spec.error().message(), HasSubstr("rule r: ")) << row.why;
    EXPECT_THAT(spec.error().message(), HasSubstr(row.says)) << row.why;
  }
  schema::Requirement names = no_names();
  names.rules = {testing::net_rule("n0", RuleEffect::kAllow, "resolve",
                                   schema::SelectorType::kHostPattern, "10.0.0.1")};
  EXPECT_FALSE(make_network_spec(nullptr, &names));
}

}  // namespace
}  // namespace aasm::backend_native
