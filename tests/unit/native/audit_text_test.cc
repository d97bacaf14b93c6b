#include "audit_text.h"

#include <string>

#include <gtest/gtest.h>

namespace aasm::backend_native::audit {
namespace {

const std::string kStamp = "audit(1795961345.243:5): ";

template <class T>
T said(std::uint16_t type, const std::string& rest) {
  const std::optional<Record> record = read_record(type, kStamp + rest);
  if (!record || !std::holds_alternative<T>(record->said)) {
    ADD_FAILURE() << rest;
    return {};
  }
  return std::get<T>(record->said);
}

TEST(AuditTextTest, ADenialOnAFileIsReadWithItsPlace) {
  const auto record = read_record(kLandlockAccess,
                                  kStamp +
                                      "domain=1148a2ce8 blockers=fs.read_file path=\"/etc/passwd\" "
                                      "dev=\"vda\" ino=861");
  ASSERT_TRUE(record);
  EXPECT_EQ(record->time_ms, 1795961345243);
  EXPECT_EQ(record->serial, 5U);
  const Denial& denial = std::get<Denial>(record->said);
  EXPECT_EQ(denial.domain, 0x1148a2ce8U);
  EXPECT_EQ(denial.blockers, "fs.read_file");
  EXPECT_EQ(denial.path, "/etc/passwd");
  EXPECT_EQ(denial.device, "vda");
  EXPECT_EQ(denial.inode, 861U);
  EXPECT_EQ(denial.detail, "");
}

TEST(AuditTextTest, ANameInHexadecimalIsTheBytesItStandsFor) {
  // "/a b" and a quote: what a workload would write to look like further fields.
  const auto denial =
      said<Denial>(kLandlockAccess,
                   "domain=1 blockers=fs.make_reg path=2F6120622220696E6F3D39 dev=\"vda\" ino=7");
  EXPECT_EQ(denial.path, "/a b\" ino=9");
  EXPECT_EQ(denial.inode, 7U);
}

TEST(AuditTextTest, WhatIsNoFileStandsInTheDetail) {
  const auto net =
      said<Denial>(kLandlockAccess, "domain=1 blockers=net.connect_tcp daddr=127.0.0.1 dest=38857");
  EXPECT_EQ(net.detail, "daddr=127.0.0.1 dest=38857");
  EXPECT_FALSE(net.path);
  const auto abstract =
      said<Denial>(kLandlockAccess, "domain=1 blockers=scope.abstract_unix_socket path=0066");
  EXPECT_EQ(abstract.detail, "path=0066");
  EXPECT_FALSE(abstract.path);
  const auto lengthy =
      said<Denial>(kLandlockAccess, "domain=1 blockers=ptrace ocomm=" + std::string(1000, 'a'));
  EXPECT_EQ(lengthy.detail.size(), kMaxTextBytes);
}

TEST(AuditTextTest, ADomainIsMadeByAProcessAndEndsWithACount) {
  const auto made = said<DomainMade>(kLandlockDomain,
                                     "domain=1148a2ce8 status=allocated mode=enforcing pid=29986 "
                                     "uid=0 exe=\"/opt/t/auditll\" comm=\"status\"");
  EXPECT_EQ(made.domain, 0x1148a2ce8U);
  EXPECT_EQ(made.pid, 29986);
  const auto ended =
      said<DomainEnded>(kLandlockDomain, "domain=1148a2ce8 status=deallocated denials=9");
  EXPECT_EQ(ended.denials, 9);
}

TEST(AuditTextTest, WhatIsNotToldAsExpectedIsNotRead) {
  for (const std::string& text : {
           std::string(),
           std::string("audit(1.2:3)"),
           std::string("audit(1.2:3): "),
           std::string("audit(1.2000:3): domain=1 blockers=fs.read_file"),
           std::string("audit(-1.2:3): domain=1 blockers=fs.read_file"),
           std::string("audit(99999999999999999999.2:3): domain=1 blockers=fs.read_file"),
           std::string("audit(1.2:3): domain=x blockers=fs.read_file"),
           std::string("audit(1.2:3): domain=1"),
           std::string("audit(1.2:3): domain=1 blockers="),
           std::string("audit(1.2:3): blockers=fs.read_file domain=1"),
           std::string("audit(1.2:3): domain=1 blockers=fs.read_file path=\"\xff\""),
       }) {
    EXPECT_FALSE(read_record(kLandlockAccess, text)) << text;
  }
  for (const std::string& rest :
       {std::string("domain=1 status=allocated"), std::string("domain=1 status=allocated pid=0"),
        std::string("domain=1 status=deallocated"), std::string("domain=1 status=other denials=1"),
        std::string("domain=1 status=deallocated denials=-1"),
        std::string("domain=1 status=deallocated denials=9223372036854775807")}) {
    EXPECT_FALSE(read_record(kLandlockDomain, kStamp + rest)) << rest;
  }
  EXPECT_FALSE(read_record(1300, kStamp + "domain=1 blockers=fs.read_file"));
}

TEST(AuditTextTest, APathThatIsNoneLeavesTheRest) {
  for (const char* path : {"(null)", "2F6", "2F00", ""}) {
    const auto denial = said<Denial>(
        kLandlockAccess, std::string("domain=1 blockers=fs.read_file path=") + path + " ino=7");
    EXPECT_FALSE(denial.path) << path;
    EXPECT_EQ(denial.inode, 7U) << path;
  }
}

}  // namespace
}  // namespace aasm::backend_native::audit
