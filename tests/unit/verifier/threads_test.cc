#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "aasm/crypto/ed25519.h"
#include "aasm/schema/json_write.h"

#include "forge.h"
#include "judge.h"
#include "long_run.h"
#include "support/sanitized.h"
#include "support/temp_dir.h"
#include "writer_home.h"

namespace aasm::verifier::test {
namespace {

// The whole report, but for where the file stood.
std::string text_of(const std::string& path, const Forge& forge, int threads) {
  VerifyRequest request = request_for(path, trust_in(forge.keys()));
  request.threads = threads;
  const VerifyReport report = verify(request);
  return schema::json_write(report.json) + report.text;
}

// A ledger of several batches; every change below stands at several places of it.
Forge long_forge() {
  Forge forge;
  for (int run = 1; run <= 60; ++run) {
    forge.add_sample_run(run);
  }
  return forge;
}

using Change = std::function<void(Forge&)>;

void each(Forge& forge, std::size_t first, const std::function<void(ForgedRecord&)>& change) {
  for (std::size_t seq = first; seq < forge.records().size(); seq += 97) {
    change(forge.at(seq));
  }
}

std::vector<Change> changes(const crypto::SigningKey& stranger) {
  return {
      [](Forge&) {},
      [&stranger](Forge& forge) {
        each(forge, 5, [&](ForgedRecord& record) { record.signer = &stranger; });
      },
      [](Forge& forge) {
        each(forge, 7, [](ForgedRecord& record) {
          record.change_payload = [](std::string& payload) { payload += " "; };
        });
        each(forge, 8, [](ForgedRecord& record) { record.kind = "later.kind"; });
      },
      [](Forge& forge) {
        each(forge, 3, [](ForgedRecord& record) {
          record.change_envelope = [](ledger_format::Envelope& envelope) { envelope.seq += 2; };
        });
        forge.records().resize(forge.records().size() - 1);
      },
  };
}

TEST(ThreadsTest, TheReportDoesNotDependOnTheirNumber) {
  const crypto::SigningKey stranger = crypto::SigningKey::generate().value();
  const aasm::test::TempDir dir;
  int number = 0;
  for (const Change& change : changes(stranger)) {
    Forge forge = long_forge();
    change(forge);
    const std::string path = dir.file("ledger" + std::to_string(++number) + ".db");
    forge.write(path);
    const std::string one = text_of(path, forge, 1);
    EXPECT_EQ(one.find("VERIFIED") != std::string::npos, number == 1) << one;
    for (const int threads : {2, 3, 8}) {
      EXPECT_EQ(text_of(path, forge, threads), one) << number << ", " << threads << " threads";
    }
  }
}

double microseconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_usec);
}

struct Used {
  bool verified = false;
  long peak_kib = 0;
  double cpu_us = 0;
};

// What a process of its own takes to verify.
Used used_by(const VerifyRequest& request) {
  const pid_t child = fork();
  if (child == 0) {
    _exit(verify(request).verdict == Verdict::kVerified ? 0 : 1);
  }
  int status = 0;
  rusage used{};
  EXPECT_EQ(wait4(child, &status, 0, &used), child);
  return {WIFEXITED(status) && WEXITSTATUS(status) == 0, used.ru_maxrss,
          microseconds(used.ru_utime) + microseconds(used.ru_stime)};
}

// One guarded verification of a payload of 1 KiB.
double guarded_us() {
  constexpr int kCalls = 400;
  const crypto::SigningKey key = crypto::SigningKey::generate().value();
  const schema::Bytes message(1100, 'x');
  const crypto::Signature signature = key.sign(message).value();
  rusage before{};
  getrusage(RUSAGE_SELF, &before);
  for (int i = 0; i < kCalls; ++i) {
    EXPECT_TRUE(crypto::verify(key.public_key(), message, signature));
  }
  rusage after{};
  getrusage(RUSAGE_SELF, &after);
  return (microseconds(after.ru_utime) + microseconds(after.ru_stime) -
          microseconds(before.ru_utime) - microseconds(before.ru_stime)) /
         kCalls;
}

// Case L26. No time but a ratio, so that a slow machine is no failure: every signature is checked,
// and the rest costs little beside them (bench/README.md measures it). AASM_LARGE_LEDGER=1000000
// asks for the million records.
TEST(ThreadsTest, NeitherMemoryNorTheCostOfARecordGrowsWithTheLedger) {
  const char* asked = getenv("AASM_LARGE_LEDGER");
  const std::uint64_t many = asked == nullptr ? 12000 : strtoull(asked, nullptr, 10);
  WriterHome home;
  const auto used_for = [&](std::uint64_t records) {
    {
      ledger::Store store = home.home().open();
      fill_ledger(store, records, 1000);
    }
    return used_by(home.request());
  };
  const Used few = used_for(2000);
  const Used most = used_for(many);
  ASSERT_TRUE(few.verified && most.verified);
  const double ratio = most.cpu_us / static_cast<double>(many) / guarded_us();
  std::cout << few.peak_kib << " KiB for 2000 records, " << most.peak_kib << " KiB for " << many
            << "; a record costs " << ratio << " signatures\n";
  if (!aasm::test::kIsSanitized) {
    EXPECT_LT(most.peak_kib, 64 * 1024);
    EXPECT_LT(most.peak_kib - few.peak_kib, 4 * 1024);
    EXPECT_LT(ratio, 2.0);
  }
}

}  // namespace
}  // namespace aasm::verifier::test
