#include "aasm/schema/record.h"

#include <functional>
#include <set>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "aasm/schema/json_parse.h"
#include "aasm/schema/json_write.h"

#include "record_samples.h"

namespace aasm::schema {
namespace {

using testing::sample_bodies;

// Fields that the C++ type holds in a std::optional: the only ones a reader may miss.
const std::set<std::string>& optional_fields() {
  static const std::set<std::string> kNames = {"line",        "column",     "ambient",
                                               "domain",      "document",   "blob",
                                               "team_id",     "root_agent", "governance_level",
                                               "backend_pin", "checkpoint", "exe_digest",
                                               "status",      "signal",     "nested_filter_event",
                                               "witness",     "counted",    "parents_truncated",
                                               "errno",       "reference",  "reason",
                                               "backend",     "landlock",   "seccomp",
                                               "number",      "path",       "given_path",
                                               "new_path"};
  return kNames;
}

TEST(RecordTest, EveryKindOfBodyReadsBackAsItWasWritten) {
  std::set<std::string> kinds;
  for (const RecordBody& body : sample_bodies()) {
    const JsonValue json = write_body(body);
    const auto back = read_body(kind_of(body), json);
    ASSERT_TRUE(back) << kind_of(body) << ": " << back.error().message();
    ASSERT_TRUE(back->has_value());
    EXPECT_EQ(json_write(write_body(**back)), json_write(json)) << kind_of(body);
    kinds.insert(std::string(kind_of(body)));
  }
  EXPECT_EQ(kinds.size(), std::variant_size_v<RecordBody>);
}

TEST(RecordTest, WrittenBodiesKeepToThePayloadProfile) {
  for (const RecordBody& body : sample_bodies()) {
    const std::string text = json_write(write_body(body));
    const auto parsed = json_parse(text);
    ASSERT_TRUE(parsed) << kind_of(body) << ": " << parsed.error().message();
    EXPECT_TRUE(json_is_canonical(text, *parsed));
  }
}

// Calls `visit(root, object, index)` for each member of each object inside `at`.
template <class Visit>
void each_member(JsonValue& root, JsonValue& at, const Visit& visit) {
  if (JsonValue::Object* object = at.as_object()) {
    for (std::size_t i = 0; i < object->size(); ++i) {
      visit(*object, i);
      each_member(root, (*object)[i].second, visit);
    }
  }
  if (JsonValue::Array* array = at.as_array()) {
    for (JsonValue& item : *array) {
      each_member(root, item, visit);
    }
  }
}

TEST(RecordTest, ACutListOfParentsHoldsThoseBeforeTheCut) {
  Event event;
  event.number = 1;
  event.operation = "call";
  event.rule = "syscalls.allow";
  event.mechanism = "seccomp_user_notification";
  event.parents_truncated = true;
  EXPECT_FALSE(event.check());
  event.parents = {7};
  EXPECT_TRUE(event.check());
}

TEST(RecordTest, AnAddressAndNothingElseHasPortProtocolAndClass) {
  EventObject address;
  address.type = ObjectType::kAddress;
  address.address = "10.0.0.1";
  address.port = 0;
  address.protocol = "udp";
  address.address_class = AddressClass::kPrivate;
  EXPECT_TRUE(address.check());
  const std::pair<const char*, std::function<void(EventObject&)>> faults[] = {
      {"no address", [](EventObject& o) { o.address.reset(); }},
      {"an empty address", [](EventObject& o) { o.address = ""; }},
      {"no port", [](EventObject& o) { o.port.reset(); }},
      {"a port below", [](EventObject& o) { o.port = -1; }},
      {"a port above", [](EventObject& o) { o.port = 65536; }},
      {"no protocol", [](EventObject& o) { o.protocol.reset(); }},
      {"an empty protocol", [](EventObject& o) { o.protocol = ""; }},
      {"no class", [](EventObject& o) { o.address_class.reset(); }},
      {"another type", [](EventObject& o) { o.type = ObjectType::kName; }},
  };
  for (const auto& [what, change] : faults) {
    EventObject faulty = address;
    change(faulty);
    EXPECT_FALSE(faulty.check()) << what;
  }
}

TEST(RecordTest, APathAndNothingElseHasASecondPathDeviceAndInode) {
  EventObject file;
  file.type = ObjectType::kPath;
  file.path = PathBytes("/a");
  EXPECT_TRUE(file.check());
  file.given_path = PathBytes("../a");
  file.new_path = PathBytes("/b");
  file.device = 1;
  file.inode = 2;
  EXPECT_TRUE(file.check());
  const std::pair<const char*, std::function<void(EventObject&)>> faults[] = {
      {"no path", [](EventObject& o) { o.path.reset(); }},
      {"no device", [](EventObject& o) { o.device.reset(); }},
      {"no inode", [](EventObject& o) { o.inode.reset(); }},
      {"a name that was requested",
       [](EventObject& o) {
         o = {};
         o.given_path = PathBytes("a");
       }},
      {"a name that is moved",
       [](EventObject& o) {
         o = {};
         o.new_path = PathBytes("a");
       }},
      {"a name on a device",
       [](EventObject& o) {
         o = {};
         o.device = 1;
         o.inode = 2;
       }},
  };
  for (const auto& [what, change] : faults) {
    EventObject faulty = file;
    change(faulty);
    EXPECT_FALSE(faulty.check()) << what;
  }
}

TEST(RecordTest, ANameAndNothingElseIsAskedForAndAnswered) {
  EventObject name;
  name.type = ObjectType::kName;
  name.name = "api.example.com";
  EXPECT_TRUE(name.check());
  name.query = "A";
  EXPECT_TRUE(name.check());
  name.answers = std::vector<std::string>{"192.0.2.1"};
  EXPECT_TRUE(name.check());
  const std::pair<const char*, std::function<void(EventObject&)>> faults[] = {
      {"an empty question", [](EventObject& o) { o.query = ""; }},
      {"an empty answer", [](EventObject& o) { o.answers->emplace_back(); }},
      {"an answer to no question", [](EventObject& o) { o.query.reset(); }},
      {"another type", [](EventObject& o) { o.type = ObjectType::kNone; }},
  };
  for (const auto& [what, change] : faults) {
    EventObject faulty = name;
    change(faulty);
    EXPECT_FALSE(faulty.check()) << what;
  }
}

TEST(RecordTest, AnUnlistedObjectSaysNothing) {
  EventObject unlisted;
  unlisted.type = ObjectType::kUnlisted;
  EXPECT_TRUE(unlisted.check());
  const std::pair<const char*, std::function<void(EventObject&)>> faults[] = {
      {"a name", [](EventObject& o) { o.name = "x"; }},
      {"an architecture", [](EventObject& o) { o.arch = "i386"; }},
      {"a number", [](EventObject& o) { o.number = 1; }},
      {"a path", [](EventObject& o) { o.path = PathBytes("/a"); }},
      {"an address", [](EventObject& o) { o.address = "10.0.0.1"; }},
      {"a question", [](EventObject& o) { o.query = "A"; }},
  };
  for (const auto& [what, change] : faults) {
    EventObject faulty = unlisted;
    change(faulty);
    EXPECT_FALSE(faulty.check()) << what;
  }
}

TEST(RecordTest, AMissingFieldIsRefusedUnlessItIsOptional) {
  for (const RecordBody& body : sample_bodies()) {
    JsonValue json = write_body(body);
    each_member(json, json, [&](JsonValue::Object& object, std::size_t i) {
      const JsonValue::Member removed = object[i];
      const bool told = kind_of(body) == "witness.reported" && removed.first == "inode";
      if (told || removed.first == "b64" || optional_fields().count(removed.first) != 0) {
        return;
      }
      object.erase(object.begin() + static_cast<std::ptrdiff_t>(i));
      EXPECT_FALSE(read_body(kind_of(body), json)) << kind_of(body) << " without " << removed.first;
      object.insert(object.begin() + static_cast<std::ptrdiff_t>(i), removed);
    });
  }
}

TEST(RecordTest, AFieldOfAnotherTypeIsRefused) {
  for (const RecordBody& body : sample_bodies()) {
    JsonValue json = write_body(body);
    each_member(json, json, [&](JsonValue::Object& object, std::size_t i) {
      const JsonValue kept = object[i].second;
      object[i].second = JsonValue();  // no field is ever null
      EXPECT_FALSE(read_body(kind_of(body), json)) << kind_of(body) << " " << object[i].first;
      object[i].second = kept;
    });
  }
}

TEST(RecordTest, AnUnknownMemberOfABodyIsIgnored) {
  for (const RecordBody& body : sample_bodies()) {
    JsonValue json = write_body(body);
    json.as_object()->emplace_back("future", JsonValue(std::int64_t{1}));
    EXPECT_TRUE(read_body(kind_of(body), json)) << kind_of(body);
  }
}

TEST(RecordTest, AnUnknownKindIsNoBodyAndNoError) {
  const auto body = read_body("future.kind", JsonValue(JsonValue::Object{}));
  ASSERT_TRUE(body);
  EXPECT_FALSE(body->has_value());
}

// Each row breaks one rule that no single field can state.
template <class Body, class Change>
bool refused_after(const Change& change) {
  for (const RecordBody& sample : sample_bodies()) {
    if (const Body* body = std::get_if<Body>(&sample)) {
      Body copy = *body;
      change(copy);
      return !read_body(kind_of(RecordBody(copy)), write_body(RecordBody(copy)));
    }
  }
  return false;
}

TEST(RecordTest, BodiesThatContradictThemselvesAreRefused) {
  EXPECT_TRUE(refused_after<PolicyResolved>([](auto& b) { b.error = "x"; }));
  EXPECT_TRUE(refused_after<PolicyResolved>([](auto& b) { b.on_denial = "log"; }));
  EXPECT_TRUE(refused_after<PolicyResolved>([](auto& b) { b.document.reset(); }));
  EXPECT_TRUE(refused_after<PolicyResolved>([](auto& b) { b.scope.reset(); }));
  EXPECT_TRUE(refused_after<PolicyResolved>([](auto& b) { b.extends.reset(); }));
  EXPECT_TRUE(refused_after<PolicyResolved>([](auto& b) { b.extends->clear(); }));
  EXPECT_TRUE(
      refused_after<PolicyResolved>([](auto& b) { b.extends->push_back(b.extends->at(0)); }));
  EXPECT_TRUE(refused_after<PolicyResolved>([](auto& b) { b.scope = b.extends->at(0).scope; }));
  EXPECT_TRUE(
      refused_after<PolicyResolved>([](auto& b) { b.requirements[0].rules[0].column = 0; }));
  EXPECT_TRUE(
      refused_after<PolicyResolved>([](auto& b) { b.requirements[0].rules[0].line.reset(); }));
  EXPECT_TRUE(
      refused_after<PolicyResolved>([](auto& b) { b.requirements.push_back(b.requirements[0]); }));
  EXPECT_TRUE(refused_after<PolicyResolved>([](auto& b) { b.state = PolicyState::kUnconfigured; }));
  EXPECT_TRUE(refused_after<CapabilityProbed>([](auto& b) { b.domains.push_back(b.domains[0]); }));
  EXPECT_TRUE(refused_after<CapabilityProbed>([](auto& b) { b.available = false; }));
  EXPECT_TRUE(refused_after<CapabilityProbed>([](auto& b) { b.domains[0].limitations.clear(); }));
  EXPECT_TRUE(refused_after<CapabilityProbed>([](auto& b) { b.reference.emplace(); }));
  EXPECT_TRUE(refused_after<PlanResolved>([](auto& b) { b.backend.reset(); }));
  EXPECT_TRUE(refused_after<PlanResolved>([](auto& b) { b.posture = LaunchPosture::kReady; }));
  EXPECT_TRUE(refused_after<PlanResolved>([](auto& b) { b.outcomes[0].achieved.clear(); }));
  EXPECT_TRUE(refused_after<PlanResolved>([](auto& b) { b.outcomes[0].reason.reset(); }));
  EXPECT_TRUE(refused_after<PlanResolved>([](auto& b) { b.ambient->removed = -1; }));
  EXPECT_TRUE(refused_after<PlanResolved>([](auto& b) { b.ambient->descriptors_listed = false; }));
  EXPECT_TRUE(refused_after<PlanResolved>([](auto& b) { b.ambient->descriptors[1].number = 0; }));
  EXPECT_TRUE(refused_after<PlanRefused>([](auto& b) { b.ambient->descriptors[0].number = -1; }));
  EXPECT_TRUE(refused_after<PlanRefused>([](auto& b) { b.refusals.clear(); }));
  EXPECT_TRUE(refused_after<PlanRefused>([](auto& b) { b.refusals[0].fix.clear(); }));
  EXPECT_TRUE(refused_after<ControlPrepared>([](auto& b) { b.controls[0].os_errno = 1; }));
  EXPECT_TRUE(refused_after<ControlPrepared>([](auto& b) { b.part = 2; }));
  EXPECT_TRUE(refused_after<BoundaryProved>([](auto& b) { b.part = 0; }));
  EXPECT_TRUE(refused_after<ProcessStarted>([](auto& b) { b.exe_digest.reset(); }));
  EXPECT_TRUE(refused_after<ProcessStarted>([](auto& b) { b.exe_not_read_reason = "x"; }));
  EXPECT_TRUE(refused_after<ProcessStarted>([](auto& b) { b.pid = 0; }));
  EXPECT_TRUE(refused_after<DecisionBatch>([](auto& b) { b.events[1].number = 3; }));
  EXPECT_TRUE(refused_after<DecisionBatch>([](auto& b) { b.events[0].count = 0; }));
  EXPECT_TRUE(refused_after<DecisionBatch>([](auto& b) { b.events[0].pids = 2; }));
  EXPECT_TRUE(refused_after<DecisionBatch>([](auto& b) { b.events[0].rule.clear(); }));
  EXPECT_TRUE(refused_after<DecisionBatch>([](auto& b) { b.dropped = -1; }));
  EXPECT_TRUE(refused_after<ProcessExited>([](auto& b) { b.signal = 9; }));
  EXPECT_TRUE(refused_after<ProcessExited>([](auto& b) { b.status.reset(); }));
  EXPECT_TRUE(refused_after<ProcessExited>([](auto& b) { b.status = 256; }));
  EXPECT_TRUE(refused_after<RunClosed>([](auto& b) { b.program_started = false; }));
  EXPECT_TRUE(refused_after<RunClosed>([](auto& b) { b.ending = RunEnding::kRefused; }));
  EXPECT_TRUE(refused_after<RunClosed>([](auto& b) { b.channel.present = false; }));
  EXPECT_TRUE(refused_after<RunClosed>([](auto& b) { b.channel.nested_filter_event = 3; }));
  EXPECT_TRUE(refused_after<LedgerCreated>([](auto& b) { b.checkpoint_every = 257; }));
  EXPECT_TRUE(refused_after<LedgerCreated>([](auto& b) { b.host.purpose = "log"; }));
}

TEST(RecordTest, ABatchHoldsAtMost512Events) {
  DecisionBatch batch;
  const auto samples = sample_bodies();
  Event event;
  for (const RecordBody& sample : samples) {
    if (const auto* decisions = std::get_if<DecisionBatch>(&sample)) {
      event = decisions->events[0];
    }
  }
  for (std::int64_t number = 1; number <= 513; ++number) {
    event.number = number;
    batch.events.push_back(event);
  }
  EXPECT_FALSE(batch.check());
  batch.events.pop_back();
  EXPECT_TRUE(batch.check());
}

}  // namespace
}  // namespace aasm::schema
