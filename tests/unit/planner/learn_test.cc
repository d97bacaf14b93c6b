#include "aasm/planner/learn.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "planner_support.h"

namespace aasm::planner {
namespace {

using schema::Domain;
using schema::Event;

constexpr const char* kPolicy =
    "filesystem:\n"
    "  read: { allow: [/usr] }\n"
    "  write: { allow: [/dev/null] }\n"
    "network: { allowlist: [] }\n"
    "syscalls: { allow: [\"@default\"], deny: [ptrace] }\n";

class LearnTest : public ::testing::Test {
 protected:
  LearnTest() {
    PolicyRequest request;
    request.sources.option = "/p.yaml";
    request.current_dir = "/";
    request.paths = {"/home/u/work", "/home/u"};
    request.hash = testing::fake_hash;
    request.reader = [](const std::string&, std::size_t) {
      return schema::Result<std::optional<std::string>>(std::optional<std::string>(kPolicy));
    };
    policy_ = resolve_policy(request);
    EXPECT_EQ(policy_.record.error, "");
  }

  void ask(Domain domain, const std::string& operation, const std::string& path) {
    Event event;
    event.domain = domain;
    event.operation = operation;
    event.object.type = schema::ObjectType::kPath;
    event.object.path = schema::PathBytes(path);
    event.outcome = schema::DecisionOutcome::kAllowed;
    event.rule = "filesystem.read.allow";
    asked_.push_back({event, "run-1"});
  }
  void read(const std::string& path) { ask(Domain::kFilesystemRead, "read", path); }

  Event& connect(const std::string& address, std::int64_t port, const std::string& name,
                 schema::AddressClass kind = schema::AddressClass::kPublic) {
    Event event;
    event.domain = Domain::kNetworkEgress;
    event.operation = "connect";
    event.object.type = schema::ObjectType::kAddress;
    event.object.name = name;
    event.object.address = address;
    event.object.port = port;
    event.object.protocol = "tcp";
    event.object.address_class = kind;
    event.rule = "network.allowlist";
    asked_.push_back({event, "run-1"});
    return asked_.back().event;
  }

  Lesson lesson() const {
    ProtectedPaths protect;
    protect.home = "/home/u/.aasm";
    protect.unwritable = {"/opt/aasm/bin/aasm"};
    return learn(asked_, {policy_, "/home/u/work", "/home/u", protect});
  }

  std::vector<std::string> additions() const {
    std::vector<std::string> all;
    for (const Addition& one : lesson().additions) {
      all.push_back(one.list.front() + "." + one.list.at(1) + " " + one.value + " " +
                    std::to_string(one.by.events));
    }
    return all;
  }

  std::vector<std::string> left_out() const {
    std::vector<std::string> all;
    for (const LeftOut& one : lesson().left_out) {
      all.push_back(one.what + ": " + one.reason);
    }
    return all;
  }

  ResolvedPolicy policy_;
  std::vector<AskedEvent> asked_;
};

using Texts = std::vector<std::string>;

TEST_F(LearnTest, FourMembersBecomeTheirDirectoryAndThreeDoNot) {
  for (const char* path : {"/data/x/a", "/data/x/b", "/data/x/c"}) {
    read(path);
  }
  EXPECT_EQ(additions(),
            (Texts{"filesystem.read \"/data/x/a\" 1", "filesystem.read \"/data/x/b\" 1",
                   "filesystem.read \"/data/x/c\" 1"}));
  read("/data/x/d");
  EXPECT_EQ(additions(), (Texts{"filesystem.read \"/data/x\" 4"}));
}

TEST_F(LearnTest, DirectoriesBecomeTheirsButNeverAWideOne) {
  for (const char top : {'a', 'b', 'c', 'd'}) {
    for (const char* file : {"1", "2", "3", "4"}) {
      read(std::string("/srv/deep/") + top + "/" + file);
      read(std::string("/home/u/") + top + file);
    }
  }
  const Texts all = additions();
  EXPECT_EQ(all.back(), "filesystem.read \"/srv/deep\" 16");
  EXPECT_EQ(all.size(), 17U);  // each file of the home by itself
}

TEST_F(LearnTest, WhatIsBelowAnotherIsCountedWithIt) {
  read("/data");
  read("/data/a/b");
  read("/database");
  EXPECT_EQ(additions(), (Texts{"filesystem.read \"/data/a/b\" 1"}));
  EXPECT_EQ(left_out(), (Texts{"filesystem read /data: it is too wide",
                               "filesystem read /database: it is too wide"}));
  asked_.clear();
  read("/srv/data");
  read("/srv/data/a/b");
  read("/srv/database");
  EXPECT_EQ(additions(),
            (Texts{"filesystem.read \"/srv/data\" 2", "filesystem.read \"/srv/database\" 1"}));
}

TEST_F(LearnTest, MakingAndRemovingAsksForTheDirectory) {
  ask(Domain::kFilesystemWrite, "create", "/home/u/work/build/x.o");
  ask(Domain::kFilesystemWrite, "remove", "/home/u/work/build/y.o");
  ask(Domain::kFilesystemWrite, "write", "/home/u/work/log");
  EXPECT_EQ(additions(), (Texts{"filesystem.write \"${WORKDIR}/build\" 2",
                                "filesystem.write \"${WORKDIR}/log\" 1"}));
}

TEST_F(LearnTest, ProcessesByNumberStandForProcAndAreNeverWritten) {
  read("/proc/4711/maps");
  ask(Domain::kFilesystemWrite, "write", "/proc/4711/oom_score_adj");
  EXPECT_EQ(additions(), (Texts{"filesystem.read \"/proc\" 1"}));
  EXPECT_EQ(left_out(), (Texts{"filesystem write /proc: it is too wide"}));
}

TEST_F(LearnTest, DangerousPlacesAreLeftOutWithTheReason) {
  read("/");
  read("/home/u");
  read("/home/u/.aasm/ledger.db");
  ask(Domain::kFilesystemWrite, "create", "/opt/aasm/bin/new");
  ask(Domain::kFilesystemWrite, "create", "/home/u/new");
  const Texts left = left_out();
  EXPECT_TRUE(additions().empty());
  EXPECT_EQ(left, (Texts{"filesystem read /: aasm's own files are there",
                         "filesystem read /home/u: aasm's own files are there",
                         "filesystem read /home/u/.aasm/ledger.db: aasm's own files are there",
                         "filesystem write /home/u: aasm's own files are there",
                         "filesystem write /opt/aasm/bin: aasm's own files are there"}));
}

TEST_F(LearnTest, AHostReachedByNameIsANameAndAnAddressAnAddress) {
  connect("93.184.216.34", 443, "api.example.com");
  connect("93.184.216.34", 443, "api.example.com").object.protocol = "udp";  // getaddrinfo
  connect("10.0.0.5", 5432, "", schema::AddressClass::kPrivate);
  connect("169.254.169.254", 80, "", schema::AddressClass::kMetadata);
  connect("2001:db8::1", 80, "evil\", \"*", schema::AddressClass::kPublic);
  EXPECT_EQ(additions(),
            (Texts{"network.allowlist \"api.example.com:443\" 1",
                   "network.egress { host: \"10.0.0.5\", ports: [5432], protocol: tcp } 1",
                   "network.egress { host: \"2001:db8::1\", ports: [80], protocol: tcp } 1"}));
  EXPECT_EQ(left_out(),
            (Texts{"network_egress connect 169.254.169.254:80: clouds answer there with "
                   "credentials"}));
}

TEST_F(LearnTest, WhatADenyRuleOrTheHostRefusesIsLeftOut) {
  Event call;
  call.domain = Domain::kSyscall;
  call.operation = "call";
  call.object.type = schema::ObjectType::kSyscall;
  call.object.name = "ptrace";
  call.rule = "syscalls.deny[0]";
  asked_.push_back({call, "run-1"});
  call.object.name = "sysinfo";
  call.rule = "syscalls.allow";
  asked_.push_back({call, "run-2"});
  read("/srv/data/x");
  asked_.back().event.cause = schema::DecisionCause::kHostPermission;
  EXPECT_EQ(additions(), (Texts{"syscalls.allow \"sysinfo\" 1"}));
  EXPECT_EQ(left_out(),
            (Texts{"filesystem_read read /srv/data/x: the host refuses it, whatever a policy says",
                   "syscall call ptrace: rule syscalls.deny[0] of the policy denies it"}));
}

TEST_F(LearnTest, WhatWasCountedWithoutItsObjectIsLeftOut) {
  for (const Domain domain : {Domain::kFilesystemRead, Domain::kFilesystemWrite,
                              Domain::kNetworkEgress, Domain::kNameResolution, Domain::kSyscall}) {
    Event rest;
    rest.domain = domain;
    rest.operation = "any";
    rest.object.type = schema::ObjectType::kUnlisted;
    rest.count = 70;
    asked_.push_back({rest, "run-1"});
  }
  EXPECT_EQ(additions(), Texts());
  const Texts left = left_out();
  ASSERT_EQ(left.size(), 5U);
  EXPECT_EQ(left.front(),
            "filesystem_read any of many objects: which objects these were is not recorded: there "
            "were more than a run keeps apart");
}

TEST_F(LearnTest, NamesThatAPolicyCannotSayAreLeftOut) {
  for (const char* path : {"/srv/d/a\nb", "/srv/d/${HOME}", "/srv/d/\xff"}) {
    read(path);
  }
  // What turns the reading direction, ends a line in YAML or begins a sequence of a terminal's.
  for (const char* path :
       {"/srv/d/a\u202e", "/srv/d/a\u0085", "/srv/d/a\u2028", "/srv/d/a\u009b"}) {
    read(path);
  }
  read("/srv/d/quote\"back\\slash");
  EXPECT_EQ(additions(), (Texts{"filesystem.read \"/srv/d/quote\\\"back\\\\slash\" 1"}));
  EXPECT_EQ(left_out().size(), 7U);
}

TEST_F(LearnTest, TheOrderOfEventsDoesNotMatter) {
  for (const char* path : {"/srv/b/1", "/srv/a", "/srv/b/2", "/srv/b/3", "/srv/b/4", "/etc/x"}) {
    read(path);
  }
  const Texts forward = additions();
  std::reverse(asked_.begin(), asked_.end());
  EXPECT_EQ(additions(), forward);
}

}  // namespace
}  // namespace aasm::planner
