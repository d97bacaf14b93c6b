#include "aasm/crypto/secret.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "aasm/crypto/ed25519.h"

#include "vectors.h"

namespace aasm::crypto {
namespace {

using Seed = std::array<std::uint8_t, 32>;

Seed sample_seed() {
  Seed seed{};
  for (std::size_t i = 0; i < seed.size(); ++i) {
    seed[i] = static_cast<std::uint8_t>(i + 1);
  }
  return seed;
}

SecretPage filled_page() {
  SecretPage page = SecretPage::create().value();
  page.set(sample_seed());
  return page;
}

// The VmFlags of the mapping that holds `address` (proc(5), smaps).
std::string vm_flags(const void* address) {
  std::ifstream smaps("/proc/self/smaps");
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  std::string line;
  bool inside = false;
  while (std::getline(smaps, line)) {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    char dash = 0;
    std::istringstream fields(line);
    if (fields >> std::hex >> begin >> dash >> end && dash == '-') {
      inside = begin <= wanted && wanted < end;
    } else if (inside && line.starts_with("VmFlags:")) {
      return line + " ";
    }
  }
  return {};
}

// Runs `check` in a forked child; true when it returned true there.
template <class Check>
bool true_in_child(Check check) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::_exit(check() ? 0 : 1);
  }
  int status = 0;
  return pid > 0 && ::waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

TEST(SecretPageTest, HoldsASeedUntilItIsWiped) {
  SecretPage page = SecretPage::create().value();
  EXPECT_FALSE(page.live());
  const Seed seed = sample_seed();
  page.set(seed);
  ASSERT_TRUE(page.live());
  const std::span<const std::uint8_t, 32> held = page.seed();
  EXPECT_TRUE(std::equal(seed.begin(), seed.end(), held.begin()));
  page.wipe();
  EXPECT_FALSE(page.live());
  // The page is still mapped, so what the wipe left can be read.
  EXPECT_EQ(std::count(held.begin(), held.end(), 0), 32);
}

TEST(SecretPageTest, IsKeptOutOfDumpsAndChildrenAndLocked) {
  const SecretPage page = filled_page();
  const std::string flags = vm_flags(page.seed().data());
  if (flags.empty()) {
    GTEST_SKIP() << "/proc/self/smaps shows no flags here";
  }
  EXPECT_NE(flags.find(" dd "), std::string::npos) << flags;  // MADV_DONTDUMP
  EXPECT_NE(flags.find(" wf "), std::string::npos) << flags;  // MADV_WIPEONFORK
  if (test::kIsSanitized) {
    GTEST_SKIP() << "sanitizers replace mlock by nothing; the rest was checked";
  }
  EXPECT_EQ(flags.find(" lo ") != std::string::npos, page.locked()) << flags;
}

TEST(SecretPageTest, AForkedChildSeesNoSeed) {
  const SecretPage page = filled_page();
  const std::uint8_t* bytes = page.seed().data();
  EXPECT_TRUE(true_in_child([&] { return !page.live(); }));
  EXPECT_TRUE(true_in_child([&] { return std::count(bytes, bytes + 32, 0) == 32; }));
  EXPECT_TRUE(page.live());
}

TEST(SecretPageTest, RefusedLockingIsReportedAndNotFatal) {
  if (test::kIsSanitized) {
    GTEST_SKIP() << "sanitizers replace mlock by nothing";
  }
  EXPECT_TRUE(true_in_child([] {
    const rlimit none{0, 0};
    // Root may lock past the limit, so it becomes nobody first.
    const bool is_bound = ::geteuid() != 0 || ::setresuid(65534, 65534, 65534) == 0;
    if (!is_bound || ::setrlimit(RLIMIT_MEMLOCK, &none) != 0) {
      return false;
    }
    schema::Result<SecretPage> page = SecretPage::create();
    return page.has_value() && !page->locked();
  }));
}

TEST(SecretPageTest, MovingLeavesNothingBehind) {
  SecretPage first = filled_page();
  const bool locked = first.locked();
  SecretPage second = std::move(first);
  EXPECT_FALSE(first.live());  // NOLINT(bugprone-use-after-move): that is the test.
  EXPECT_TRUE(second.live());
  EXPECT_EQ(second.locked(), locked);
  SecretPage third = SecretPage::create().value();
  third = std::move(second);
  EXPECT_TRUE(third.live());
}

TEST(SecretPageDeathTest, ReadingAnEmptyPageAborts) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const SecretPage page = SecretPage::create().value();
  EXPECT_DEATH(page.seed(), "");
}

TEST(WipeTest, OverwritesEveryByte) {
  Seed seed = sample_seed();
  wipe_bytes(seed);
  EXPECT_EQ(std::count(seed.begin(), seed.end(), 0), 32);
  wipe_bytes({});
}

TEST(SigningKeySecretTest, AWipedKeyRefusesToSign) {
  SigningKey key = SigningKey::from_seed(sample_seed()).value();
  ASSERT_TRUE(key.sign({}));
  key.wipe();
  EXPECT_FALSE(key.live());
  const schema::Result<Signature> signature = key.sign({});
  ASSERT_FALSE(signature);
  EXPECT_EQ(signature.error().code(), schema::ErrorCode::kInvalidArgument);
}

TEST(SigningKeySecretTest, AForkedChildCannotSign) {
  const SigningKey key = SigningKey::from_seed(sample_seed()).value();
  EXPECT_TRUE(true_in_child([&] { return !key.live() && !key.sign({}).has_value(); }));
  EXPECT_TRUE(key.sign({}));
}

}  // namespace
}  // namespace aasm::crypto
