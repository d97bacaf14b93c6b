#include "aasm/schema/path_bytes.h"

#include <ostream>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "aasm/schema/json_parse.h"
#include "aasm/schema/json_write.h"

namespace aasm::schema {
namespace {

TEST(PathBytesTest, Utf8IsWrittenAsAPlainString) {
  EXPECT_EQ(json_write(PathBytes("/tmp/\xC3\xA9\n").to_json()), "\"/tmp/\xC3\xA9\\n\"");
}

TEST(PathBytesTest, OtherBytesAreWrittenAsBase64) {
  EXPECT_EQ(json_write(PathBytes("/tmp/\xFF").to_json()), R"({"b64":"L3RtcC//"})");
}

TEST(PathBytesTest, AnyBytesSurviveTheWayThroughText) {
  std::mt19937 random(5);
  for (int i = 0; i < 2000; ++i) {
    std::string bytes(random() % 12, '\0');
    for (char& c : bytes) {
      c = static_cast<char>(random());
    }
    const auto value = json_parse(json_write(PathBytes(bytes).to_json()));
    ASSERT_TRUE(value.has_value()) << value.error().message();
    const auto again = PathBytes::from_json(*value);
    ASSERT_TRUE(again.has_value()) << again.error().message();
    ASSERT_EQ(again->bytes(), bytes);
  }
}

TEST(PathBytesTest, DisplayEscapes) {
  EXPECT_EQ(PathBytes("a\n\xFF").display(), "a\\n\\xff");
}

struct BadPath {
  const char* name;
  JsonValue value;
};

void PrintTo(const BadPath& row, std::ostream* out) {
  *out << row.name;
}

class PathBytesRefuses : public ::testing::TestWithParam<BadPath> {};

TEST_P(PathBytesRefuses, AsMalformed) {
  const auto path = PathBytes::from_json(GetParam().value);
  ASSERT_FALSE(path.has_value());
  EXPECT_EQ(path.error().code(), ErrorCode::kMalformed);
}

JsonValue b64(JsonValue value) {
  return JsonValue::Object{{"b64", std::move(value)}};
}

INSTANTIATE_TEST_SUITE_P(
    Rows, PathBytesRefuses,
    ::testing::Values(BadPath{"Null", JsonValue()},                                //
                      BadPath{"Integer", std::int64_t{1}},                         //
                      BadPath{"Array", JsonValue::Array{"a"}},                     //
                      BadPath{"StringThatIsNotUtf8", "\xFF"},                      //
                      BadPath{"NoMember", JsonValue::Object{}},                    //
                      BadPath{"OtherMember", JsonValue::Object{{"b32", "/w=="}}},  //
                      BadPath{"SecondMember",
                              JsonValue::Object{{"b64", "/w=="}, {"x", JsonValue()}}},  //
                      BadPath{"ValueIsNoString", b64(std::int64_t{1})},                 //
                      BadPath{"NotBase64", b64("/w=")},                                 //
                      BadPath{"NotCanonicalBase64", b64("/x==")},                       //
                      BadPath{"Utf8InBase64", b64("YQ==")},                             //
                      BadPath{"EmptyInBase64", b64("")}),
    [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace aasm::schema
