#include "aasm/ledger/probe_cache.h"

#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "aasm/ledger/ledger_sink.h"
#include "aasm/sqlite/connection.h"

#include "probe_hint.h"
#include "support/ledger_home.h"

namespace aasm::ledger {
namespace {

constexpr const char* kBackend = "aasm-native";

schema::HostConditions conditions() {
  schema::HostConditions host;
  host.boot_id = "b0";
  host.kernel_release = "6.1.0";
  host.uid = 1000;
  return host;
}

class ProbeCacheTest : public testing::Test {
 protected:
  // One run that holds `body`; the sequence number of that record.
  std::uint64_t record(schema::CapabilityProbed body) const {
    const auto sink = LedgerSink::create(home_.open(), home_.paths()).value();
    sink->open_run(test::new_run(), test::opened_body()).value();
    sink->submit(std::move(body));
    return static_cast<std::uint64_t>(sink->close_run(test::closed_body()).value().closed_seq) - 1;
  }
  std::optional<CachedProbe> find(const schema::HostConditions& host,
                                  const std::string& backend = kBackend,
                                  std::chrono::nanoseconds later = {}) const {
    LedgerReader reader = LedgerReader::open(home_.paths().ledger).value();
    return find_probe(reader, home_.paths().probes, backend, host, wall_now_ns() + later.count())
        .value();
  }
  std::string hint_path() const {
    return home_.paths().probes + "/" + probe_hint_name(kBackend, conditions());
  }
  void write_hint(const std::string& text) const {
    std::ofstream(hint_path(), std::ios::trunc) << text;
  }

  test::LedgerHome home_;
};

TEST_F(ProbeCacheTest, AProbeIsFoundAgainUnderEqualConditions) {
  const std::uint64_t seq = record(test::probed_body(kBackend, conditions()));
  const auto found = find(conditions());
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->reference.seq, static_cast<std::int64_t>(seq));
  LedgerReader reader = LedgerReader::open(home_.paths().ledger).value();
  EXPECT_EQ(found->reference.leaf, reader.record(seq).value().leaf);
  EXPECT_EQ(found->body.domains.size(), 1U);
}

TEST_F(ProbeCacheTest, TheNewestOfSeveralIsFound) {
  record(test::probed_body(kBackend, conditions()));
  const std::uint64_t newest = record(test::probed_body(kBackend, conditions()));
  EXPECT_EQ(find(conditions())->reference.seq, static_cast<std::int64_t>(newest));
}

TEST_F(ProbeCacheTest, EveryDifferenceInConditionsIsAMiss) {
  record(test::probed_body(kBackend, conditions()));
  using Change = std::function<void(schema::HostConditions&)>;
  const std::vector<std::pair<const char*, Change>> rows = {
      {"boot", [](auto& h) { h.boot_id = "b1"; }},
      {"kernel", [](auto& h) { h.kernel_release = "6.2.0"; }},
      {"machine", [](auto& h) { h.machine = "x"; }},
      {"uid", [](auto& h) { h.uid = 0; }},
      {"gid", [](auto& h) { h.gid = 1; }},
      {"effective", [](auto& h) { h.cap_effective = "1"; }},
      {"permitted", [](auto& h) { h.cap_permitted = "1"; }},
      {"bounding", [](auto& h) { h.cap_bounding = "1"; }},
      {"user ns", [](auto& h) { h.user_ns = "x"; }},
      {"pid ns", [](auto& h) { h.pid_ns = "x"; }},
      {"mount ns", [](auto& h) { h.mnt_ns = "x"; }},
      {"net ns", [](auto& h) { h.net_ns = "x"; }},
      {"seccomp", [](auto& h) { h.seccomp_mode = 2; }},
      {"no_new_privs", [](auto& h) { h.no_new_privs = true; }},
      {"cgroup", [](auto& h) { h.cgroup = "/x"; }},
      {"aasm digest", [](auto& h) { h.aasm_digest.bytes[0] = 1; }},
      {"helper digest", [](auto& h) { h.helper_digest.bytes[0] = 1; }},
  };
  for (const auto& [why, change] : rows) {
    schema::HostConditions other = conditions();
    change(other);
    EXPECT_FALSE(find(other).has_value()) << why;
    // Also with a hint that claims otherwise: the record itself is compared.
    const std::string forged = home_.paths().probes + "/" + probe_hint_name(kBackend, other);
    std::filesystem::copy_file(hint_path(), forged);
    EXPECT_FALSE(find(other).has_value()) << why;
  }
  EXPECT_TRUE(find(conditions()).has_value());
}

TEST_F(ProbeCacheTest, AnotherBackendIsAMiss) {
  record(test::probed_body(kBackend, conditions()));
  std::filesystem::copy_file(hint_path(),
                             home_.paths().probes + "/" + probe_hint_name("gvisor", conditions()));
  EXPECT_FALSE(find(conditions(), "gvisor").has_value());
}

TEST_F(ProbeCacheTest, AProbeLivesForADay) {
  record(test::probed_body(kBackend, conditions()));
  const std::chrono::minutes minute(1);
  EXPECT_TRUE(find(conditions(), kBackend, std::chrono::hours(24) - minute).has_value());
  EXPECT_FALSE(find(conditions(), kBackend, std::chrono::hours(24) + minute).has_value());
  EXPECT_FALSE(find(conditions(), kBackend, -minute).has_value());
}

TEST_F(ProbeCacheTest, AnUnavailableBackendIsMeasuredAgain) {
  schema::CapabilityProbed probe = test::probed_body(kBackend, conditions());
  probe.available = false;
  probe.unavailable_reason = "test";
  record(probe);
  EXPECT_FALSE(find(conditions()).has_value());
}

TEST_F(ProbeCacheTest, AReferenceIsNotAProbe) {
  record(test::probed_body(kBackend, conditions()));
  const std::int64_t seq = find(conditions())->reference.seq;
  schema::CapabilityProbed reference = test::probed_body(kBackend, conditions());
  reference.domains.clear();
  reference.reference = find(conditions())->reference;
  record(reference);
  EXPECT_EQ(find(conditions())->reference.seq, seq);
}

TEST_F(ProbeCacheTest, AHintThatDoesNotFitFindsNothing) {
  const std::uint64_t seq = record(test::probed_body(kBackend, conditions()));
  LedgerReader reader = LedgerReader::open(home_.paths().ledger).value();
  const std::string leaf = reader.record(seq).value().leaf.hex();
  const std::string number = std::to_string(seq);
  const std::string other = reader.record(seq - 1).value().leaf.hex();
  const std::vector<std::pair<const char*, std::string>> rows = {
      {"another leaf", number + " " + other + "\n"},
      {"another record", std::to_string(seq - 1) + " " + other + "\n"},
      {"no such record", "999 " + leaf + "\n"},
      {"empty", ""},
      {"no newline", number + " " + leaf},
      {"no number", "x " + leaf + "\n"},
      {"negative", "-1 " + leaf + "\n"},
      {"no leaf", number + "\n"},
      {"short leaf", number + " " + leaf.substr(2) + "\n"},
      {"too long", number + " " + leaf + leaf + leaf + "\n"},
  };
  for (const auto& [why, text] : rows) {
    write_hint(text);
    LedgerReader again = LedgerReader::open(home_.paths().ledger).value();
    const auto found =
        find_probe(again, home_.paths().probes, kBackend, conditions(), wall_now_ns());
    EXPECT_FALSE(found.has_value() && found->has_value()) << why;
  }
  write_hint(number + " " + leaf + "\n");
  EXPECT_TRUE(find(conditions()).has_value());
}

TEST_F(ProbeCacheTest, WithoutHintsThereIsNothing) {
  record(test::probed_body(kBackend, conditions()));
  std::filesystem::remove_all(home_.paths().probes);
  EXPECT_FALSE(find(conditions()).has_value());
}

TEST_F(ProbeCacheTest, AChangedRecordIsNotReused) {
  const std::uint64_t seq = record(test::probed_body(kBackend, conditions()));
  sqlite::Connection::open(home_.paths().ledger, sqlite::OpenMode::kReadWrite)
      .value()
      .execute("UPDATE records SET payload=(SELECT payload FROM records WHERE seq=0) WHERE seq=" +
               std::to_string(seq))
      .value();
  EXPECT_FALSE(find(conditions()).has_value());
}

}  // namespace
}  // namespace aasm::ledger
