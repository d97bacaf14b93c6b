#include "coverage.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

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
       named(ObjectType::kAddress, "192.0.2.1"), Coverage::kUndecided},
      {"an address against a range", SelectorType::kAddressRange, "10.0.0.0/8",
       named(ObjectType::kAddress, "10.0.0.1"), Coverage::kUndecided},
      {"a name against a range", SelectorType::kAddressRange, "10.0.0.0/8",
       named(ObjectType::kName, "10.0.0.1"), Coverage::kNotCovered},
      {"an address against a port", SelectorType::kPort, "443",
       named(ObjectType::kAddress, "10.0.0.1:443"), Coverage::kUndecided},
      {"a limit", SelectorType::kLimit, "5", named(ObjectType::kNone, ""), Coverage::kUndecided},
  };
  for (const TypeRow& row : rows) {
    EXPECT_EQ(covers({row.type, schema::PathBytes(row.value)}, row.object), row.expected)
        << row.why;
  }
}

}  // namespace
}  // namespace aasm::claims
