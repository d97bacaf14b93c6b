#include "network_view.h"

#include <cerrno>

#include <gtest/gtest.h>

#include "network_builder.h"

namespace aasm::backend_native {
namespace {

using planner::ActionAnswer;
using planner::ActionView;
using schema::Domain;
using schema::Requirement;
using testing::egress;
using testing::host;
using testing::names;
using testing::no_names;
using testing::range;
using testing::whole;

ActionView connect(const std::vector<Requirement>& requirements, const std::string& object) {
  return view_network(requirements, {Domain::kNetworkEgress, "connect", object});
}

TEST(NetworkViewTest, AnAddressIsViewedAsItIsJudged) {
  const std::vector<Requirement> requirements = {
      egress({range("r0", "10.0.0.0/8:5432/tcp"), range("r1", "10.0.0.0/8:53/udp"),
              host("h0", "[::1]:8080")}),
      no_names()};
  const ActionView allowed = connect(requirements, "10.0.0.1:5432");
  EXPECT_EQ(allowed.answer, ActionAnswer::kAllowed);
  EXPECT_EQ(allowed.rule, "r0");
  EXPECT_EQ(allowed.mechanism, "seccomp_user_notification");
  EXPECT_TRUE(allowed.recorded);
  EXPECT_EQ(connect(requirements, "[::1]:8080").rule, "h0");
  const ActionView denied = connect(requirements, "10.0.0.1:443");
  EXPECT_EQ(denied.answer, ActionAnswer::kDenied);
  EXPECT_EQ(denied.rule, "network.allowlist");
  EXPECT_EQ(denied.os_errno, EACCES);
  EXPECT_EQ(connect(requirements, "10.0.0.1:53").answer, ActionAnswer::kDenied) << "TCP is asked";
}

// A lookup that name_resolution refuses is answered, whatever becomes of a denial of the network.
TEST(NetworkViewTest, OnlyADenialOfTheNetworkKills) {
  Requirement open = egress({whole("network", "connect")});
  Requirement closed = egress({});
  open.on_denial = closed.on_denial = "kill";
  const ActionView lookup = connect({open, no_names()}, "10.0.0.1:53");
  EXPECT_EQ(lookup.answer, ActionAnswer::kDenied);
  EXPECT_EQ(lookup.os_errno, EACCES);
  EXPECT_EQ(lookup.note, "");
  for (const char* object : {"10.0.0.1:80", "10.0.0.1:80/udp", "a.example:80"}) {
    EXPECT_EQ(connect({open, no_names()}, object).answer, ActionAnswer::kAllowed) << object;
    const ActionView denied = connect({closed, no_names()}, object);
    EXPECT_EQ(denied.answer, ActionAnswer::kDenied) << object;
    EXPECT_EQ(denied.os_errno, 0) << object;
    EXPECT_NE(denied.note.find("the caller is killed"), std::string::npos) << object;
  }
}

TEST(NetworkViewTest, ANameIsReachedWhereEveryAddressIs) {
  EXPECT_EQ(connect({egress({host("star", "*:443")})}, "a.example:443").rule, "star");
  EXPECT_EQ(connect({egress({whole("network", "connect")})}, "a.example:443").answer,
            ActionAnswer::kAllowed);
  const ActionView by_range =
      connect({egress({range("r", "10.0.0.0/8:443/tcp")})}, "a.example:443");
  EXPECT_EQ(by_range.answer, ActionAnswer::kDenied);
  EXPECT_NE(by_range.note.find("ask for the address"), std::string::npos);
  const ActionView nothing = connect({egress({})}, "a.example:443");
  EXPECT_EQ(nothing.answer, ActionAnswer::kDenied);
  EXPECT_EQ(nothing.note, "");
  EXPECT_EQ(connect({egress({host("star", "*:443")})}, "a.example:80").answer,
            ActionAnswer::kDenied);
}

TEST(NetworkViewTest, LookupsAreDeniedWhereTheyAreStatedAndElseNotMediated) {
  const planner::Action resolve{Domain::kNameResolution, "resolve", "a.example"};
  EXPECT_EQ(view_network({no_names()}, resolve).answer, ActionAnswer::kDenied);
  EXPECT_EQ(view_network({no_names()}, resolve).rule, "name_resolution.allow");
  EXPECT_EQ(view_network({egress({})}, resolve).answer, ActionAnswer::kNotMediated);
  EXPECT_EQ(connect({no_names()}, "10.0.0.1:80").answer, ActionAnswer::kNotMediated);
}

TEST(NetworkViewTest, ARuleByNameDependsOnTheAnswerAndOnTheLookup) {
  const Requirement by_name = egress({host("h", "*.example:443")});
  const ActionView named = connect({by_name, names({"a.example"})}, "a.example:443");
  EXPECT_EQ(named.answer, ActionAnswer::kAllowed);
  EXPECT_EQ(named.rule, "h");
  EXPECT_NE(named.note.find("depends on the answer"), std::string::npos);
  for (const Requirement& closed : {no_names(), names({"b.example"})}) {
    const ActionView unknown = connect({by_name, closed}, "a.example:443");
    EXPECT_EQ(unknown.answer, ActionAnswer::kDenied);
    EXPECT_NE(unknown.note.find("may not be looked up"), std::string::npos);
    EXPECT_EQ(unknown.rule, "name_resolution.allow");
  }
  EXPECT_EQ(connect({by_name, names({"*"})}, "a.example:80").answer, ActionAnswer::kDenied);
  const planner::Action resolve{Domain::kNameResolution, "resolve", "a.example"};
  EXPECT_EQ(view_network({names({"*.example"})}, resolve).rule, "n0");
  EXPECT_EQ(view_network({names({"*.example"})}, resolve).answer, ActionAnswer::kAllowed);
  EXPECT_EQ(view_network({names({"*.other"})}, resolve).answer, ActionAnswer::kDenied);
}

}  // namespace
}  // namespace aasm::backend_native
