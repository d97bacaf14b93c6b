#include <cerrno>

#include <gtest/gtest.h>

#include "name_grants.h"
#include "network_builder.h"

namespace aasm::backend_native {
namespace {

using schema::Domain;
using schema::RuleEffect;
using std::chrono::seconds;
using testing::egress;
using testing::host;
using testing::kTcp4;
using testing::kTcp6;
using testing::kUdp4;
using testing::kUdp6;
using testing::names;
using testing::range;
using testing::v4;
using testing::v6;

constexpr auto kConnect = NetworkCall::kConnect;

InternetAddress address(const char* text) {
  const auto parsed = schema::parse_address(text).value();
  return {parsed.v6, parsed.bytes, 0};
}

NetworkSpec both(const schema::Requirement& egress, const schema::Requirement& names) {
  NetworkSpec spec = make_network_spec(&egress, &names).value();
  spec.responder = {1053, 1054};
  return spec;
}

TEST(JudgeNameTest, TheNarrowestRuleDecidesAndDenyOutranks) {
  schema::Requirement stated = names({"*", "*.example", "a.example"});
  stated.rules.push_back(testing::net_rule("deny", RuleEffect::kDeny, "resolve",
                                           schema::SelectorType::kHostPattern, "*.b.example"));
  const NetworkSpec spec = make_network_spec(nullptr, &stated).value();
  const std::vector<std::pair<const char*, const char*>> rows = {{"a.example", "n2"},
                                                                 {"x.a.example", "n1"},
                                                                 {"example", "n0"},
                                                                 {"c.b.example", "deny"},
                                                                 {"\\046.example", "n1"}};
  for (const auto& [name, rule] : rows) {
    EXPECT_EQ(judge_name(spec, name).event.rule, rule) << name;
    EXPECT_EQ(judge_name(spec, name).perform, std::string(rule) != "deny") << name;
  }
}

TEST(JudgeNameTest, ARefusalIsAnEventOfTheDomain) {
  const schema::Requirement stated = names({"a.example"});
  const NetworkSpec spec = make_network_spec(nullptr, &stated).value();
  const NetworkVerdict verdict = judge_name(spec, "b.example");
  EXPECT_FALSE(verdict.perform);
  EXPECT_EQ(verdict.event.domain, Domain::kNameResolution);
  EXPECT_EQ(verdict.event.operation, "resolve");
  EXPECT_EQ(verdict.event.object.name, "b.example");
  EXPECT_EQ(verdict.event.rule, "name_resolution.allow");
  EXPECT_EQ(verdict.event.os_errno, EACCES);
  EXPECT_EQ(verdict.event.mechanism, "resolver");
}

TEST(JudgeNameTest, WhoAsksAResolverIsLedToOurs) {
  const NetworkSpec spec = both(egress({}), names({"a.example"}));
  const auto asked = [&](const SocketFacts& socket, const testing::Bytes& name) {
    return judge_address(spec, kConnect, socket, name);
  };
  EXPECT_EQ(asked(kUdp4, v4("9.9.9.9", 53)).address, v4("127.0.0.1", 1053));
  EXPECT_EQ(asked(kTcp4, v4("9.9.9.9", 53)).address, v4("127.0.0.1", 1053));
  EXPECT_EQ(asked(kUdp6, v6("2620:fe::fe", 53)).address, v6("::1", 1054));
  EXPECT_EQ(asked(kTcp6, v6("::ffff:9.9.9.9", 53)).address, v6("::ffff:127.0.0.1", 1053));
  const NetworkVerdict verdict = asked(kUdp4, v4("9.9.9.9", 53));
  EXPECT_TRUE(verdict.perform);
  EXPECT_FALSE(verdict.recorded) << "the question will be";
  ASSERT_TRUE(verdict.asked);
  EXPECT_EQ(address_text(*verdict.asked), "9.9.9.9");
  EXPECT_FALSE(asked(kUdp4, v4("9.9.9.9", 853)).perform);
  EXPECT_FALSE(judge_address(spec, NetworkCall::kBind, kUdp4, v4("127.0.0.1", 53)).asked);
}

TEST(JudgeNameTest, WithoutIpv6OfItsOwnTheResolverIsReachedByTheMappedAddress) {
  NetworkSpec spec = both(egress({}), names({"a.example"}));
  spec.responder.v6_port = 0;
  EXPECT_EQ(judge_address(spec, kConnect, kUdp6, v6("2620:fe::fe", 53)).address,
            v6("::ffff:127.0.0.1", 1053));
}

TEST(JudgeNameTest, ARuleThatNamesThePortReachesTheServerItself) {
  const NetworkSpec spec = both(egress({range("r", "9.9.9.9:53/udp")}), names({"a.example"}));
  EXPECT_FALSE(judge_address(spec, kConnect, kUdp4, v4("9.9.9.9", 53)).asked);
  EXPECT_EQ(judge_address(spec, kConnect, kUdp4, v4("9.9.9.9", 53)).event.rule, "r");
  EXPECT_TRUE(judge_address(spec, kConnect, kUdp4, v4("9.9.9.8", 53)).asked);
}

TEST(JudgeNameTest, AnAddressIsOpenWhereARuleNamesWhatItWasGivenFor) {
  NetworkSpec spec = both(egress({host("star", "*.example:443"), host("one", "a.example:443"),
                                  range("udp", "a.example:5000/udp")}),
                          names({"*"}));
  const auto given = std::make_shared<NameGrants>();
  spec.given = given;
  const auto rule = [&](const SocketFacts& socket, std::uint16_t port) {
    const NetworkVerdict verdict = judge_address(spec, kConnect, socket, v4("93.184.216.34", port));
    EXPECT_EQ(verdict.event.object.name.empty(), !verdict.perform);
    return verdict.perform ? verdict.event.rule : "";
  };
  EXPECT_EQ(rule(kTcp4, 443), "");
  given->give("b.example", {address("93.184.216.34")}, seconds(1), NameGrants::Clock::now());
  EXPECT_EQ(rule(kTcp4, 443), "star");
  EXPECT_EQ(rule(kTcp4, 80), "");
  given->give("a.example", {address("93.184.216.34")}, seconds(1), NameGrants::Clock::now());
  EXPECT_EQ(rule(kTcp4, 443), "one");
  EXPECT_EQ(rule(kUdp4, 5000), "udp");
  EXPECT_FALSE(judge_address(spec, NetworkCall::kBind, kTcp4, v4("93.184.216.34", 443)).perform);
}

TEST(JudgeNameTest, ADatagramSocketIsToldItsSourceWhereOnlyStreamsMayGo) {
  NetworkSpec spec = both(egress({host("one", "a.example:443")}), names({"*"}));
  const auto given = std::make_shared<NameGrants>();
  spec.given = given;
  const auto to = [&](NetworkCall call, std::uint16_t port) {
    return judge_address(spec, call, kUdp4, v4("93.184.216.34", port));
  };
  EXPECT_FALSE(to(kConnect, 443).perform);
  given->give("a.example", {address("93.184.216.34")}, seconds(1), NameGrants::Clock::now());
  const NetworkVerdict verdict = to(kConnect, 443);
  EXPECT_TRUE(verdict.perform && verdict.source_for && verdict.address.empty());
  EXPECT_EQ(verdict.event.outcome, schema::DecisionOutcome::kEmulated);
  EXPECT_EQ(verdict.event.rule, "compat.source_address");
  EXPECT_FALSE(to(kConnect, 80).perform);
  constexpr std::uint16_t kNoPort = 0;
  constexpr std::uint16_t kMuslPort = 65535;
  for (const std::uint16_t port : {kNoPort, kMuslPort}) {  // whatever the rule's
    EXPECT_TRUE(to(kConnect, port).source_for) << port;
    EXPECT_FALSE(to(NetworkCall::kSend, port).perform) << port;
    EXPECT_FALSE(judge_address(spec, kConnect, kUdp4, v4("93.184.216.35", port)).perform) << port;
  }
  spec.egress_stated = false;
  EXPECT_FALSE(to(kConnect, 65535).source_for);  // it goes where it says
  spec.egress_stated = true;
  EXPECT_FALSE(to(NetworkCall::kSend, 443).perform);
  EXPECT_EQ(to(NetworkCall::kSend, 443).event.outcome, schema::DecisionOutcome::kDenied);
}

// Case 51.
TEST(NameGrantsTest, NoNameLeadsToAnAddressThatIsNotPublic) {
  NameGrants grants;
  const auto now = NameGrants::Clock::now();
  for (const char* text :
       {"127.0.0.1", "::1", "::ffff:127.0.0.1", "169.254.169.254", "::ffff:169.254.169.254",
        "0.0.0.0", "::", "10.0.0.1", "172.16.0.1", "192.168.1.1", "100.64.0.1", "169.254.1.1",
        "fe80::1", "fd00::1", "fd00:ec2::254", "224.0.0.1", "255.255.255.255", "64:ff9b::7f00:1",
        "::127.0.0.1"}) {
    grants.give("a.example", {address(text)}, seconds(60), now);
    EXPECT_TRUE(grants.names_of(unmapped(address(text)), now).empty()) << text;
  }
}

TEST(NameGrantsTest, WhatIsGivenLastsAsLongAsTheAnswerWithinBounds) {
  NameGrants grants;
  const auto now = NameGrants::Clock::now();
  const InternetAddress one = address("93.184.216.34");
  grants.give("short.example", {address("::ffff:93.184.216.34")}, seconds(0), now);
  grants.give("long.example", {one}, seconds(1000000), now);
  EXPECT_EQ(grants.names_of(one, now + seconds(59)).size(), 2U);
  EXPECT_EQ(grants.names_of(one, now + seconds(61)), std::vector<std::string>{"long.example"});
  EXPECT_EQ(grants.names_of(one, now + seconds(3601)).size(), 0U);
  grants.give("long.example", {one}, seconds(1), now);
  EXPECT_EQ(grants.names_of(one, now + seconds(3599)).size(), 1U) << "a shorter answer ends none";
}

TEST(NameGrantsTest, TheNumberOfAddressesAndOfNamesIsBounded) {
  NameGrants grants;
  const auto now = NameGrants::Clock::now();
  InternetAddress many = address("93.0.0.0");
  for (unsigned i = 0; i < NameGrants::kMostAddresses + 10; ++i) {
    many.bytes[2] = static_cast<std::uint8_t>(i >> 8U);
    many.bytes[3] = static_cast<std::uint8_t>(i);
    grants.give("a.example", {many}, seconds(60 + i / 100), now);
  }
  EXPECT_TRUE(grants.names_of(address("93.0.0.0"), now).empty());
  EXPECT_FALSE(grants.names_of(many, now).empty());
  for (unsigned i = 0; i < 2 * NameGrants::kMostNames; ++i) {
    grants.give(std::to_string(i) + ".example", {many}, seconds(100 + i), now);
  }
  EXPECT_EQ(grants.names_of(many, now).size(), NameGrants::kMostNames);
}

}  // namespace
}  // namespace aasm::backend_native
