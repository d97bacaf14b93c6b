#include "aasm/ledger_format/origin.h"

#include <array>
#include <string>

#include <gtest/gtest.h>

namespace aasm::ledger_format {
namespace {

constexpr std::array<std::uint8_t, 16> kRandom = {0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77,
                                                  0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff};

TEST(OriginTest, TheShapeOfTheSpecificationIsAccepted) {
  for (const std::string origin :
       {"aasm.example/ledger/0123456789abcdef", "host.invalid/ledger/ffffffffffffffff",
        "a/ledger/0000000000000000", "x-1.y2.z/ledger/0123456789abcdef",
        "dssev1.example/ledger/0123456789abcdef"}) {
    EXPECT_TRUE(check_origin(origin)) << origin;
  }
  EXPECT_TRUE(check_origin(std::string(63, 'a') + "/ledger/0123456789abcdef"));
}

TEST(OriginTest, EverythingElseIsRefused) {
  struct Row {
    std::string origin;
    const char* why;
  };
  const std::string id = "0123456789abcdef";
  const Row rows[] = {
      {"", "empty"},
      {"/ledger/" + id, "no domain"},
      {"aasm.example/ledger/", "no id"},
      {"aasm.example/ledger/" + id.substr(1), "fifteen digits"},
      {"aasm.example/ledger/" + id + "0", "seventeen digits"},
      {"aasm.example/ledger/0123456789ABCDEF", "upper-case digits"},
      {"aasm.example/ledger/0123456789abcdeg", "no hex digit"},
      {"aasm.example/ledger/" + id + "\n", "newline at the end"},
      {"aasm.example/Ledger/" + id, "another word"},
      {"aasm.example/x/ledger/" + id, "a longer path"},
      {"aasm.example//ledger/" + id, "two slashes"},
      {"aasm.example", "no path"},
      {"Aasm.example/ledger/" + id, "upper-case domain"},
      {"aasm example/ledger/" + id, "space"},
      {"aasm+example/ledger/" + id, "plus sign"},
      {std::string("aasm\0example/ledger/", 20) + id, "NUL"},
      {"aasm\texample/ledger/" + id, "tab"},
      {"a\xC3\xA4sm.example/ledger/" + id, "letter past ASCII"},
      {"aasm_x.example/ledger/" + id, "underscore"},
      {".example/ledger/" + id, "empty first label"},
      {"aasm.example./ledger/" + id, "empty last label"},
      {"aasm..example/ledger/" + id, "empty middle label"},
      {"-aasm.example/ledger/" + id, "hyphen first"},
      {"aasm-.example/ledger/" + id, "hyphen last"},
      {std::string(64, 'a') + "/ledger/" + id, "label too long"},
      {"DSSEv1.example/ledger/" + id, "begins like a PAE"},
      {"DSSEv1", "begins like a PAE"},
  };
  for (const Row& row : rows) {
    const schema::Result<void> result = check_origin(row.origin);
    ASSERT_FALSE(result) << row.why;
    EXPECT_EQ(result.error().code(), schema::ErrorCode::kMalformed) << row.why;
  }
}

TEST(OriginTest, TheLongestOriginHas255Bytes) {
  const std::string label(60, 'a');
  const std::string domain = label + "." + label + "." + label + ".";
  const std::string tail = "/ledger/0123456789abcdef";
  const std::string longest = domain + std::string(255 - domain.size() - tail.size(), 'b') + tail;
  ASSERT_EQ(longest.size(), 255U);
  EXPECT_TRUE(check_origin(longest));
  EXPECT_FALSE(check_origin("a" + longest));
}

TEST(OriginTest, ANewOriginHasTheFirstDigitsOfTheUuid) {
  // 00112233-4455-4677-8899-...: the version digit is the first of the third group.
  EXPECT_EQ(make_origin("Host.Example", kRandom).value(), "host.example/ledger/0011223344554677");
}

TEST(OriginTest, ADomainThatIsNoHostNameIsRefused) {
  for (const char* domain : {"", "a b", "a/b", "a_b", ".", "h\xC3\xB6st"}) {
    const schema::Result<std::string> origin = make_origin(domain, kRandom);
    ASSERT_FALSE(origin) << domain;
    EXPECT_EQ(origin.error().code(), schema::ErrorCode::kInvalidArgument);
  }
}

TEST(OriginTest, ADomainIsLoweredEvenWhenItLooksLikeAPae) {
  EXPECT_EQ(make_origin("DSSEv1", kRandom).value(), "dssev1/ledger/0011223344554677");
}

}  // namespace
}  // namespace aasm::ledger_format
