#include <gtest/gtest.h>

#include "network_builder.h"

namespace aasm::backend_native {
namespace {

using schema::AddressClass;

InternetAddress address(const char* text) {
  InternetAddress made;
  made.v6 = std::strchr(text, ':') != nullptr;
  ::inet_pton(made.v6 ? AF_INET6 : AF_INET, text, made.bytes.data());
  return made;
}

struct ClassRow {
  const char* text;
  AddressClass expected;
};

TEST(AddressClassTest, IsThatOfTheRangeIncludingItsEnds) {
  const std::vector<ClassRow> rows = {
      {"0.0.0.0", AddressClass::kUnspecified},
      {"0.0.0.1", AddressClass::kReserved},
      {"0.255.255.255", AddressClass::kReserved},
      {"1.0.0.0", AddressClass::kPublic},
      {"9.255.255.255", AddressClass::kPublic},
      {"10.0.0.0", AddressClass::kPrivate},
      {"10.255.255.255", AddressClass::kPrivate},
      {"11.0.0.0", AddressClass::kPublic},
      {"100.63.255.255", AddressClass::kPublic},
      {"100.64.0.0", AddressClass::kPrivate},
      {"100.100.100.200", AddressClass::kMetadata},
      {"100.127.255.255", AddressClass::kPrivate},
      {"100.128.0.0", AddressClass::kPublic},
      {"126.255.255.255", AddressClass::kPublic},
      {"127.0.0.0", AddressClass::kLoopback},
      {"127.255.255.255", AddressClass::kLoopback},
      {"128.0.0.0", AddressClass::kPublic},
      {"168.63.129.16", AddressClass::kMetadata},
      {"169.253.255.255", AddressClass::kPublic},
      {"169.254.0.0", AddressClass::kLinkLocal},
      {"169.254.169.253", AddressClass::kLinkLocal},
      {"169.254.169.254", AddressClass::kMetadata},
      {"169.254.170.2", AddressClass::kMetadata},
      {"169.254.255.255", AddressClass::kLinkLocal},
      {"172.15.255.255", AddressClass::kPublic},
      {"172.16.0.0", AddressClass::kPrivate},
      {"172.31.255.255", AddressClass::kPrivate},
      {"172.32.0.0", AddressClass::kPublic},
      {"192.0.2.1", AddressClass::kReserved},
      {"192.168.0.0", AddressClass::kPrivate},
      {"192.169.0.0", AddressClass::kPublic},
      {"198.19.255.255", AddressClass::kReserved},
      {"198.20.0.0", AddressClass::kPublic},
      {"223.255.255.255", AddressClass::kPublic},
      {"224.0.0.0", AddressClass::kMulticast},
      {"239.255.255.255", AddressClass::kMulticast},
      {"240.0.0.0", AddressClass::kReserved},
      {"255.255.255.255", AddressClass::kReserved},
      {"::", AddressClass::kUnspecified},
      {"::1", AddressClass::kLoopback},
      {"::2", AddressClass::kTranslated},
      {"::7f00:1", AddressClass::kTranslated},
      {"64:ff9b::a9fe:a9fe", AddressClass::kTranslated},
      {"64:ff9b:1::1", AddressClass::kTranslated},
      {"64:ff9c::1", AddressClass::kPublic},
      {"100::1", AddressClass::kReserved},
      {"2001::1", AddressClass::kTranslated},
      {"2001:1::1", AddressClass::kPublic},
      {"2001:db8::1", AddressClass::kReserved},
      {"2002:7f00:1::", AddressClass::kTranslated},
      {"2606:4700::1111", AddressClass::kPublic},
      {"fbff::1", AddressClass::kPublic},
      {"fc00::", AddressClass::kPrivate},
      {"fd00:ec2::254", AddressClass::kMetadata},
      {"fd00:ec2::255", AddressClass::kPrivate},
      {"fd20:ce::254", AddressClass::kMetadata},
      {"fdff::1", AddressClass::kPrivate},
      {"fe80::1", AddressClass::kLinkLocal},
      {"febf::1", AddressClass::kLinkLocal},
      {"fec0::1", AddressClass::kPrivate},
      {"ff02::1", AddressClass::kMulticast},
  };
  for (const ClassRow& row : rows) {
    EXPECT_EQ(schema::token(address_class(address(row.text))), schema::token(row.expected))
        << row.text;
  }
}

TEST(AddressTextTest, IsTheOneFormOfRfc5952) {
  for (const char* text : {"0.0.0.0", "10.0.0.1", "::", "::1", "fe80::1", "2001:db8::1:0:0:1",
                           "2001:db8:0:1:1:1:1:1", "fd00:ec2::254"}) {
    EXPECT_EQ(address_text(address(text)), text);
  }
}

}  // namespace
}  // namespace aasm::backend_native
