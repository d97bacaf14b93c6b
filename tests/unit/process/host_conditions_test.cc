#include "aasm/process/host_conditions.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <string>

#include <gtest/gtest.h>

namespace aasm::process {
namespace {

std::string link_target(const char* path) {
  std::array<char, 256> buffer{};
  const ssize_t size = ::readlink(path, buffer.data(), buffer.size());
  return size < 0 ? "" : std::string(buffer.data(), static_cast<std::size_t>(size));
}

TEST(HostConditionsTest, FactsAreThoseOfThisProcess) {
  schema::Sha256 aasm_digest;
  aasm_digest.bytes.fill(1);
  schema::Sha256 helper_digest;
  helper_digest.bytes.fill(2);
  const auto host = read_host_conditions(aasm_digest, helper_digest);
  ASSERT_TRUE(host.has_value()) << host.error().message();
  utsname names = {};
  ASSERT_EQ(::uname(&names), 0);
  EXPECT_EQ(host->kernel_release, static_cast<const char*>(names.release));
  EXPECT_EQ(host->machine, static_cast<const char*>(names.machine));
  EXPECT_EQ(host->uid, static_cast<std::int64_t>(::geteuid()));
  EXPECT_EQ(host->gid, static_cast<std::int64_t>(::getegid()));
  EXPECT_EQ(host->boot_id.size(), 36U);
  EXPECT_EQ(host->user_ns, link_target("/proc/self/ns/user"));
  EXPECT_EQ(host->pid_ns, link_target("/proc/self/ns/pid"));
  EXPECT_EQ(host->mnt_ns, link_target("/proc/self/ns/mnt"));
  EXPECT_EQ(host->net_ns, link_target("/proc/self/ns/net"));
  EXPECT_EQ(host->cap_bounding.size(), 16U);
  EXPECT_FALSE(host->cgroup.empty());
  EXPECT_EQ(host->cgroup.find('\n'), std::string::npos);
  EXPECT_EQ(host->aasm_digest, aasm_digest);
  EXPECT_EQ(host->helper_digest, helper_digest);
}

TEST(HostConditionsTest, TwoReadingsInOneProcessAreEqual) {
  EXPECT_EQ(read_host_conditions({}, {}).value(), read_host_conditions({}, {}).value());
}

}  // namespace
}  // namespace aasm::process
