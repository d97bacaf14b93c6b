#include "aasm/planner/selector.h"

#include <algorithm>
#include <array>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace aasm::planner {
namespace {

using schema::Selector;
using schema::SelectorType;

Selector made(SelectorType type, const std::string& text) {
  schema::Result<Selector> selector = make_selector(type, text);
  EXPECT_TRUE(selector) << text << ": " << selector.error().message();
  return selector ? *selector : Selector();
}

std::string text_of(SelectorType type, const std::string& text) {
  const schema::Result<Selector> selector = make_selector(type, text);
  return selector ? selector->value.bytes() : "no selector";
}

std::vector<std::string> members(std::string_view group) {
  if (group == "@files") {
    return {"open", "read", "write"};
  }
  return group == "@output" ? std::vector<std::string>{"write", "writev"}
                            : std::vector<std::string>();
}

// A universe small enough to be listed: selectors, and by other means than the code under test
// which of the objects each one stands for.
struct Universe {
  std::vector<Selector> selectors;
  std::vector<std::set<int>> objects;  // of the selector at the same place

  void add(SelectorType type, const std::string& text, std::set<int> of) {
    selectors.push_back(made(type, text));
    objects.push_back(std::move(of));
  }
};

Universe paths() {
  std::vector<std::string> all = {"/"};
  for (const std::string a : {"/a", "/ab", "/b"}) {
    all.push_back(a);
    for (const std::string b : {"/a", "/ab"}) {
      all.push_back(a + b);
      all.push_back(a + b + "/c");
      all.push_back(a + b + "/c/d");
    }
    all.push_back(a + "/x");
  }
  Universe universe;
  for (const std::string& prefix : all) {
    std::set<int> below;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::string start = prefix == "/" ? prefix : prefix + "/";
      if (all[i] == prefix || all[i].rfind(start, 0) == 0) {
        below.insert(static_cast<int>(i));
      }
    }
    universe.add(SelectorType::kPathPrefix, prefix, below);
  }
  return universe;
}

// Objects: 0-7 are 10.0.0.0 to 10.0.0.7, 8-11 fd00::0 to fd00::3, 12-16 names, each with one of two
// ports and two protocols.
int object(int host, int port, int protocol) {
  return host * 4 + port * 2 + protocol;
}

constexpr int kNames = 12;
const std::vector<std::string> kNameTexts = {"x", "a.x", "b.a.x", "c.a.x", "ba.x", "y"};

std::vector<std::pair<std::string, std::set<int>>> hosts() {
  std::vector<std::pair<std::string, std::set<int>>> all;
  for (int bits = 29; bits <= 32; ++bits) {
    const int size = 1 << (32 - bits);
    for (int first = 0; first < 8; first += size) {
      std::set<int> range;
      for (int i = first; i < first + size; ++i) {
        range.insert(i);
      }
      all.emplace_back("10.0.0." + std::to_string(first) + "/" + std::to_string(bits), range);
    }
  }
  all.emplace_back("fd00::/126", std::set<int>{8, 9, 10, 11});
  all.emplace_back("fd00::2/127", std::set<int>{10, 11});
  all.emplace_back("::ffff:10.0.0.4/126", std::set<int>{4, 5, 6, 7});
  std::set<int> everything;
  for (int i = 0; i < kNames + static_cast<int>(kNameTexts.size()); ++i) {
    everything.insert(i);
  }
  all.emplace_back("*", everything);
  for (std::size_t i = 0; i < kNameTexts.size(); ++i) {
    all.emplace_back(kNameTexts[i], std::set<int>{kNames + static_cast<int>(i)});
  }
  all.emplace_back("*.x", std::set<int>{kNames + 1, kNames + 2, kNames + 3, kNames + 4});
  all.emplace_back("*.a.x", std::set<int>{kNames + 2, kNames + 3});
  return all;
}

Universe endpoints() {
  Universe universe;
  for (const auto& [text, of] : hosts()) {
    for (int port = 0; port < 2; ++port) {
      std::array<std::set<int>, 2> objects;
      for (const int host : of) {
        objects[0].insert(object(host, port, 0));
        objects[1].insert(object(host, port, 1));
      }
      const std::string with_port = text + ":" + std::to_string(port + 1);
      universe.add(SelectorType::kAddressRange, with_port + "/tcp", objects[0]);
      universe.add(SelectorType::kAddressRange, with_port + "/udp", objects[1]);
      if (text.find('/') == std::string::npos) {
        universe.add(SelectorType::kHostPattern, with_port, objects[0]);
      }
    }
  }
  return universe;
}

Universe calls() {
  Universe universe;
  universe.add(SelectorType::kSyscall, "open", {0});
  universe.add(SelectorType::kSyscall, "read", {1});
  universe.add(SelectorType::kSyscall, "write", {2});
  universe.add(SelectorType::kSyscall, "writev", {3});
  universe.add(SelectorType::kSyscall, "@files", {0, 1, 2});
  universe.add(SelectorType::kSyscall, "@output", {2, 3});
  universe.add(SelectorType::kSyscall, "@nothing-known", {4});
  return universe;
}

Universe limits() {
  Universe universe;
  std::set<int> up_to;
  for (int i = 0; i < 12; ++i) {
    up_to.insert(i);
    universe.add(SelectorType::kLimit, std::to_string(i), up_to);
  }
  universe.add(SelectorType::kLimit, "deny", {100});
  universe.add(SelectorType::kLimit, "inside", {101});
  return universe;
}

Universe singles() {
  Universe universe;
  universe.add(SelectorType::kWhole, "", {0, 1, 2, 3, 4, 5, 6});
  universe.add(SelectorType::kEnvironmentName, "PATH", {0});
  universe.add(SelectorType::kEnvironmentName, "HOME", {1});
  universe.add(SelectorType::kDescriptor, "1", {2});
  universe.add(SelectorType::kDescriptor, "10", {3});
  universe.add(SelectorType::kSocketPath, "/run/a", {4});
  universe.add(SelectorType::kSocketPath, "/run/a/b", {5});
  return universe;
}

bool within(const std::set<int>& some, const std::set<int>& all) {
  return std::includes(all.begin(), all.end(), some.begin(), some.end());
}

class SelectorUniverseTest : public ::testing::TestWithParam<Universe (*)()> {
 protected:
  const Universe universe_ = GetParam()();

  std::set<int> objects_of(const Selector& selector) const {
    const auto at = std::find(universe_.selectors.begin(), universe_.selectors.end(), selector);
    EXPECT_NE(at, universe_.selectors.end()) << selector.value.bytes();
    return at == universe_.selectors.end()
               ? std::set<int>()
               : universe_.objects[static_cast<std::size_t>(at - universe_.selectors.begin())];
  }
};

TEST_P(SelectorUniverseTest, ContainsAgreesWithTheListOfObjects) {
  for (std::size_t a = 0; a < universe_.selectors.size(); ++a) {
    for (std::size_t b = 0; b < universe_.selectors.size(); ++b) {
      EXPECT_EQ(contains(universe_.selectors[a], universe_.selectors[b], members),
                within(universe_.objects[b], universe_.objects[a]))
          << universe_.selectors[a].value.bytes() << " and "
          << universe_.selectors[b].value.bytes();
    }
  }
}

TEST_P(SelectorUniverseTest, ContainsIsReflexiveAndTransitive) {
  const auto& all = universe_.selectors;
  std::vector<std::vector<bool>> in(all.size());
  for (std::size_t a = 0; a < all.size(); ++a) {
    for (const Selector& other : all) {
      in[a].push_back(contains(all[a], other, members));
    }
    EXPECT_TRUE(in[a][a]) << all[a].value.bytes();
  }
  for (std::size_t a = 0; a < all.size(); ++a) {
    for (std::size_t b = 0; b < all.size(); ++b) {
      for (std::size_t c = 0; in[a][b] && c < all.size(); ++c) {
        ASSERT_TRUE(!in[b][c] || in[a][c]) << all[a].value.bytes() << " " << all[c].value.bytes();
      }
    }
  }
}

TEST_P(SelectorUniverseTest, AnIntersectionIsExactlyWhatBothStandForInEitherOrder) {
  for (std::size_t a = 0; a < universe_.selectors.size(); ++a) {
    for (std::size_t b = 0; b < universe_.selectors.size(); ++b) {
      std::set<int> expected;
      std::set_intersection(universe_.objects[a].begin(), universe_.objects[a].end(),
                            universe_.objects[b].begin(), universe_.objects[b].end(),
                            std::inserter(expected, expected.begin()));
      for (const auto& [first, second] : {std::pair(a, b), std::pair(b, a)}) {
        std::set<int> both;
        for (const Selector& one :
             intersect(universe_.selectors[first], universe_.selectors[second], members)) {
          both.merge(objects_of(one));
        }
        EXPECT_EQ(both, expected) << universe_.selectors[a].value.bytes() << " and "
                                  << universe_.selectors[b].value.bytes();
      }
    }
  }
}

// Several together: with paths and names a list of objects that is finite shows one direction.
TEST_P(SelectorUniverseTest, WhatSeveralCoverTogetherStandsInOneOfThem) {
  std::mt19937 random(7);
  const auto pick = [&] {
    return std::uniform_int_distribution<std::size_t>(0, universe_.selectors.size() - 1)(random);
  };
  for (int round = 0; round < 20000; ++round) {
    const std::size_t one = pick();
    std::vector<Selector> several;
    std::set<int> together;
    for (std::size_t i = pick() % 6; i > 0; --i) {
      const std::size_t other = pick();
      several.push_back(universe_.selectors[other]);
      together.insert(universe_.objects[other].begin(), universe_.objects[other].end());
    }
    const bool covered = covered_by(universe_.selectors[one], several, members);
    if (covered) {
      ASSERT_TRUE(within(universe_.objects[one], together));
    }
    const std::string& text = universe_.selectors[one].value.bytes();
    const bool countable = text.starts_with("10.") || text.starts_with("fd00") ||
                           universe_.selectors[one].type == SelectorType::kSyscall;
    if (countable) {
      ASSERT_EQ(covered, within(universe_.objects[one], together)) << text;
    }
  }
}

std::string universe_name(const ::testing::TestParamInfo<Universe (*)()>& param) {
  const std::vector<std::string> names = {"paths", "endpoints", "calls", "limits", "singles"};
  return names.at(param.index);
}

INSTANTIATE_TEST_SUITE_P(All, SelectorUniverseTest,
                         ::testing::Values(&paths, &endpoints, &calls, &limits, &singles),
                         universe_name);

TEST(SelectorTest, EachTypeHasOneForm) {
  EXPECT_EQ(text_of(SelectorType::kPathPrefix, "/usr//lib/./x/"), "/usr/lib/x");
  EXPECT_EQ(text_of(SelectorType::kHostPattern, "API.Example.com:443"), "api.example.com:443");
  EXPECT_EQ(text_of(SelectorType::kHostPattern, "*.Example.org"), "*.example.org");
  EXPECT_EQ(text_of(SelectorType::kHostPattern, "[FD00:0::1]:80"), "[fd00::1]:80");
  EXPECT_EQ(text_of(SelectorType::kHostPattern, "[::ffff:10.0.0.1]:80"), "10.0.0.1:80");
  EXPECT_EQ(text_of(SelectorType::kAddressRange, "10.0.0.0/8:5432/tcp"), "10.0.0.0/8:5432/tcp");
  EXPECT_EQ(text_of(SelectorType::kAddressRange, "FD00::/8:53/udp"), "fd00::/8:53/udp");
  EXPECT_EQ(text_of(SelectorType::kAddressRange, "::ffff:10.0.0.0/104:53/udp"),
            "10.0.0.0/8:53/udp");
  EXPECT_EQ(text_of(SelectorType::kAddressRange, "10.0.0.1/32:53/udp"), "10.0.0.1:53/udp");
  EXPECT_EQ(text_of(SelectorType::kPort, "127.0.0.1:8080"), "127.0.0.1:8080");
  EXPECT_EQ(text_of(SelectorType::kLimit, "64"), "64");
  EXPECT_EQ(text_of(SelectorType::kWhole, ""), "");
}

TEST(SelectorTest, AFormIsItsOwnForm) {
  for (const auto make : {&paths, &endpoints, &calls, &limits, &singles}) {
    for (const Selector& one : make().selectors) {
      EXPECT_EQ(made(one.type, one.value.bytes()), one) << one.value.bytes();
    }
  }
}

TEST(SelectorTest, OtherTextsAreNone) {
  const std::vector<std::pair<SelectorType, std::string>> none = {
      {SelectorType::kPathPrefix, "usr"},
      {SelectorType::kPathPrefix, "/usr/../etc"},
      {SelectorType::kSocketPath, ""},
      {SelectorType::kHostPattern, "10.0.0.0/8:443"},
      {SelectorType::kHostPattern, "a..b:443"},
      {SelectorType::kHostPattern, "a.b:0"},
      {SelectorType::kHostPattern, "a.b:65536"},
      {SelectorType::kHostPattern, "0x7f.1:80"},
      {SelectorType::kHostPattern, "127.1:80"},
      {SelectorType::kHostPattern, "2130706433:80"},
      {SelectorType::kHostPattern, "010.0.0.1:80"},
      {SelectorType::kHostPattern, "*.0.0.1:80"},
      {SelectorType::kHostPattern, "a.*.b:80"},
      {SelectorType::kAddressRange, "10.0.0.1/8:80/tcp"},
      {SelectorType::kAddressRange, "10.0.0.0/33:80/tcp"},
      {SelectorType::kAddressRange, "10.0.0.0/08:80/tcp"},
      {SelectorType::kAddressRange, "10.0.0.0/8:80/icmp"},
      {SelectorType::kAddressRange, "10.0.0.0/8/tcp"},
      {SelectorType::kPort, "127.0.0.1"},
      {SelectorType::kSyscall, "Read"},
      {SelectorType::kEnvironmentName, "A*"},
      {SelectorType::kDescriptor, "-1"},
      {SelectorType::kLimit, "064"},
      {SelectorType::kLimit, ""},
      {SelectorType::kWhole, "x"}};
  for (const auto& [type, text] : none) {
    EXPECT_FALSE(make_selector(type, text)) << schema::token(type) << " " << text;
  }
}

TEST(SelectorTest, ATextThatIsNoSelectorStandsForItselfAlone) {
  const Selector odd{SelectorType::kHostPattern, schema::PathBytes("127.1:80")};
  EXPECT_TRUE(contains(odd, odd));
  EXPECT_FALSE(contains(made(SelectorType::kHostPattern, "*:80"), odd));
  EXPECT_FALSE(contains(odd, made(SelectorType::kHostPattern, "127.0.0.1:80")));
  EXPECT_TRUE(intersect(odd, made(SelectorType::kHostPattern, "*:80")).empty());
}

TEST(SelectorTest, AGroupWithoutAListStandsForItselfAlone) {
  const Selector group = made(SelectorType::kSyscall, "@files");
  EXPECT_TRUE(contains(group, group));
  EXPECT_FALSE(contains(group, made(SelectorType::kSyscall, "open")));
  EXPECT_TRUE(intersect(group, made(SelectorType::kSyscall, "@output")).empty());
}

}  // namespace
}  // namespace aasm::planner
