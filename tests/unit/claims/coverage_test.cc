#include "coverage.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "address_coverage.h"
#include "sample_run.h"

namespace aasm::claims {
namespace {

using schema::EventObject;
using schema::ObjectType;
using schema::Selector;
using schema::SelectorType;

EventObject path_object(std::string path) {
  EventObject object;
  object.type = ObjectType::kPath;
  object.path = schema::PathBytes(std::move(path));
  return object;
}

EventObject named(ObjectType type, std::string name) {
  EventObject object;
  object.type = type;
  object.name = std::move(name);
  return object;
}

struct PathRow {
  const char* prefix;
  std::string path;
  Coverage expected;
};

TEST(CoverageTest, PathsCompareByComponentAndOnlyWhenResolved) {
  const auto covered = Coverage::kCovered;
  const auto outside = Coverage::kNotCovered;
  const std::vector<PathRow> rows = {
      {"/srv/work", "/srv/work", covered},
      {"/srv/work", "/srv/work/a/b", covered},
      {"/", "/etc/passwd", covered},
      {"/", "/", covered},
      {"/srv/work", "/srv/workshop", outside},
      {"/srv/work", "/srv", outside},
      {"/srv/work", "/srv/work/../../etc/passwd", outside},
      {"/srv/work", "/srv/work/./a", outside},
      {"/srv/work", "/srv/work//a", outside},
      {"/srv/work", "/srv/work/", outside},
      {"/srv/work", "srv/work/a", outside},
      {"/srv/work", "", outside},
      {"/srv/work", std::string("/srv/work/a\0b", 13), outside},
      {"/srv/work/", "/srv/work/a", outside},
      {"/", "/..", outside},
  };
  for (const PathRow& row : rows) {
    const Selector selector{SelectorType::kPathPrefix, schema::PathBytes(row.prefix)};
    EXPECT_EQ(covers(selector, path_object(row.path)), row.expected)
        << row.prefix << " and " << row.path;
  }
}

struct HostRow {
  const char* pattern;
  const char* name;
  bool covered;
};

TEST(CoverageTest, HostPatternsNeedALabelBeforeTheSuffix) {
  const std::vector<HostRow> rows = {
      {"api.example.com", "api.example.com", true},
      {"api.example.com", "API.Example.COM.", true},
      {"api.example.com:443", "api.example.com", true},
      {"*.example.org", "a.example.org", true},
      {"*.example.org", "a.b.example.org", true},
      {"*", "anything.example", true},
      {"*.example.org", "example.org", false},
      {"*.example.org", ".example.org", false},
      {"*.example.org", "badexample.org", false},
      {"*.example.org", "a.example.org.evil.test", false},
      {"api.example.com", "api.example.com.evil.test", false},
      {"api.example.com", "", false},
  };
  for (const HostRow& row : rows) {
    const Selector selector{SelectorType::kHostPattern, schema::PathBytes(row.pattern)};
    EXPECT_EQ(covers(selector, named(ObjectType::kName, row.name)),
              row.covered ? Coverage::kCovered : Coverage::kNotCovered)
        << row.pattern << " and " << row.name;
  }
}

struct TypeRow {
  const char* why;
  SelectorType type;
  const char* value;
  EventObject object;
  Coverage expected;
};

TEST(CoverageTest, ASelectorCoversObjectsOfItsOwnTypeOnly) {
  EventObject descriptor = named(ObjectType::kNone, "");
  descriptor.number = 2;
  const std::vector<TypeRow> rows = {
      {"whole", SelectorType::kWhole, "", named(ObjectType::kName, "x"), Coverage::kCovered},
      {"call", SelectorType::kSyscall, "read", named(ObjectType::kSyscall, "read"),
       Coverage::kCovered},
      {"other call", SelectorType::kSyscall, "read", named(ObjectType::kSyscall, "readv"),
       Coverage::kNotCovered},
      {"a group, whose calls stand in no record", SelectorType::kSyscall, "@default",
       named(ObjectType::kSyscall, "read"), Coverage::kUndecided},
      {"a group against a name", SelectorType::kSyscall, "@default",
       named(ObjectType::kName, "@default"), Coverage::kNotCovered},
      {"a name that looks like a call", SelectorType::kSyscall, "read",
       named(ObjectType::kName, "read"), Coverage::kNotCovered},
      {"a path is not a name", SelectorType::kPathPrefix, "/a", named(ObjectType::kName, "/a"),
       Coverage::kNotCovered},
      {"variable", SelectorType::kEnvironmentName, "PATH", named(ObjectType::kName, "PATH"),
       Coverage::kCovered},
      {"other variable", SelectorType::kEnvironmentName, "PATH", named(ObjectType::kName, "path"),
       Coverage::kNotCovered},
      {"descriptor", SelectorType::kDescriptor, "2", descriptor, Coverage::kCovered},
      {"other descriptor", SelectorType::kDescriptor, "22", descriptor, Coverage::kNotCovered},
      {"socket", SelectorType::kSocketPath, "/run/s", named(ObjectType::kSocket, "/run/s"),
       Coverage::kCovered},
      {"other socket", SelectorType::kSocketPath, "/run/s", named(ObjectType::kSocket, "/run/t"),
       Coverage::kNotCovered},
      {"an address against a name", SelectorType::kHostPattern, "a.example",
       test::address_object("192.0.2.1", 443, "tcp"), Coverage::kNotCovered},
      {"an address against a range", SelectorType::kAddressRange, "10.0.0.0/8:443/tcp",
       test::address_object("10.0.0.1", 443, "tcp"), Coverage::kCovered},
      {"a name against a range", SelectorType::kAddressRange, "10.0.0.0/8",
       named(ObjectType::kName, "10.0.0.1"), Coverage::kNotCovered},
      {"an address against a port", SelectorType::kPort, "*:443",
       test::address_object("10.0.0.1", 443, "udp"), Coverage::kCovered},
      {"an address against a path", SelectorType::kPathPrefix, "/",
       test::address_object("10.0.0.1", 443, "tcp"), Coverage::kNotCovered},
      {"whatever was not listed, against whole", SelectorType::kWhole, "",
       named(ObjectType::kUnlisted, ""), Coverage::kUndecided},
      {"whatever was not listed, against a path", SelectorType::kPathPrefix, "/",
       named(ObjectType::kUnlisted, ""), Coverage::kUndecided},
      {"whatever was not listed, against a descriptor", SelectorType::kDescriptor, "2",
       named(ObjectType::kUnlisted, ""), Coverage::kUndecided},
      {"a limit", SelectorType::kLimit, "5", named(ObjectType::kNone, ""), Coverage::kUndecided},
  };
  for (const TypeRow& row : rows) {
    EXPECT_EQ(covers({row.type, schema::PathBytes(row.value)}, row.object), row.expected)
        << row.why;
  }
}

struct AddressRow {
  SelectorType type;
  const char* selector;
  const char* address;
  std::int64_t port;
  const char* protocol;
  Coverage expected;
};

TEST(CoverageTest, AnAddressIsCoveredWhenHostPortAndProtocolFit) {
  const auto covered = Coverage::kCovered;
  const auto outside = Coverage::kNotCovered;
  const auto undecided = Coverage::kUndecided;
  const auto range = SelectorType::kAddressRange;
  const auto host = SelectorType::kHostPattern;
  const auto port = SelectorType::kPort;
  const std::vector<AddressRow> rows = {
      {range, "10.0.0.0/8:5432/tcp", "10.255.0.1", 5432, "tcp", covered},
      {range, "10.0.0.0/8:5432/tcp", "11.0.0.0", 5432, "tcp", outside},
      {range, "10.0.0.0/8:5432/tcp", "10.0.0.1", 5433, "tcp", outside},
      {range, "10.0.0.0/8:5432/tcp", "10.0.0.1", 5432, "udp", outside},
      {range, "10.0.0.0/9:5432/tcp", "10.127.255.255", 5432, "tcp", covered},
      {range, "10.0.0.0/9:5432/tcp", "10.128.0.0", 5432, "tcp", outside},
      {range, "0.0.0.0/0:1/udp", "255.255.255.255", 1, "udp", covered},
      {range, "10.0.0.1:5432/tcp", "::ffff:10.0.0.1", 5432, "tcp", covered},
      {range, "::ffff:10.0.0.1:5432/tcp", "10.0.0.1", 5432, "tcp", covered},
      {range, "::ffff:0:0/95:5432/tcp", "10.0.0.1", 5432, "tcp", outside},
      {range, "::/0:5432/tcp", "::1", 5432, "tcp", covered},
      {range, "::/0:5432/tcp", "10.0.0.1", 5432, "tcp", outside},
      {range, "[::1]:5432/tcp", "0:0:0:0:0:0:0:1", 5432, "tcp", covered},
      {range, "db.example:5432/tcp", "10.0.0.1", 5432, "tcp", outside},
      {range, "db.example:5432/tcp", "10.0.0.1", 5433, "tcp", outside},
      {range, "10.0.0.0/33:5432/tcp", "10.0.0.1", 5432, "tcp", undecided},
      {range, "10.0.0.0/8:05432/tcp", "10.0.0.1", 5432, "tcp", undecided},
      {range, "10.0.0.1", "10.0.0.1", 5432, "tcp", undecided},
      {range, "10.0.0.0/8:5432/tcp", "10.0.0.1/32", 5432, "tcp", outside},
      {range, "10.0.0.0/8:5432/tcp", "10.0.0.01", 5432, "tcp", outside},
      {range, "10.0.0.0/8:5432/tcp", "", 5432, "tcp", outside},
      {host, "*:443", "192.0.2.1", 443, "tcp", covered},
      {host, "*:443", "2001:db8::1", 443, "tcp", covered},
      {host, "*:443", "192.0.2.1", 443, "udp", outside},
      {host, "*:443", "no address", 443, "tcp", outside},
      {host, "*", "192.0.2.1", 0, "tcp", covered},
      {host, "192.0.2.1", "192.0.2.1", 22, "tcp", covered},
      {host, "[::1]", "::1", 22, "tcp", covered},
      {host, "*.example.org:443", "192.0.2.1", 443, "tcp", outside},
      {host, "*.example.org:443", "192.0.2.1", 80, "tcp", outside},
      {port, "127.0.0.1:8080", "127.0.0.1", 8080, "udp", covered},
      {port, "127.0.0.1:8080", "0.0.0.0", 8080, "tcp", outside},
      {port, "localhost:8080", "127.0.0.1", 8080, "tcp", outside},
  };
  for (const AddressRow& row : rows) {
    EXPECT_EQ(covers({row.type, schema::PathBytes(row.selector)},
                     test::address_object(row.address, row.port, row.protocol)),
              row.expected)
        << row.selector << " and " << row.address << " " << row.port << "/" << row.protocol;
  }
}

TEST(CoverageTest, AnAddressThatWasGivenOutForANameIsCoveredByRulesOfThatName) {
  const auto covered = Coverage::kCovered;
  const auto outside = Coverage::kNotCovered;
  const auto range = SelectorType::kAddressRange;
  const auto host = SelectorType::kHostPattern;
  const std::vector<std::tuple<SelectorType, const char*, const char*, Coverage>> rows = {
      {range, "db.example:443/tcp", "db.example", covered},
      {range, "db.example:443/tcp", "DB.Example.", covered},
      {range, "db.example:443/udp", "db.example", outside},
      {range, "db.example:443/tcp", "other.example", outside},
      {range, "198.51.100.0/24:443/tcp", "db.example", outside},
      {host, "*.example:443", "db.example", covered},
      {host, "*.example:443", "example", outside},
      {host, "*.example:443", "a.b.example", covered},
      {host, "*.example:80", "db.example", outside},
      {host, "db.example:443", "", outside},
  };
  for (const auto& [type, selector, name, expected] : rows) {
    schema::EventObject lookup;
    lookup.name = name;
    lookup.answers = std::vector<std::string>{"192.0.2.1"};
    NameAnswers answers;
    note_answers(lookup, answers);
    schema::EventObject object = test::address_object("192.0.2.1", 443, "tcp");
    object.name = name;
    EXPECT_EQ(covers({type, schema::PathBytes(selector)}, object, &answers), expected)
        << selector << " and " << name;
  }
}

TEST(CoverageTest, AfterALookupThatIsNotListedAnyAddressMayHaveBeenGivenForAName) {
  const schema::Selector selector{SelectorType::kHostPattern, schema::PathBytes("a.example:443")};
  schema::EventObject object = test::address_object("192.0.2.1", 443, "tcp");
  object.name = "a.example";
  NameAnswers answers;
  EXPECT_EQ(covers(selector, object, &answers), Coverage::kNotCovered);
  note_answers(named(ObjectType::kUnlisted, ""), answers);
  EXPECT_EQ(covers(selector, object, &answers), Coverage::kUndecided);
  object.port = 80;
  EXPECT_EQ(covers(selector, object, &answers), Coverage::kNotCovered) << "whatever was given";
}

}  // namespace
}  // namespace aasm::claims
