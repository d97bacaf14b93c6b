#include "aasm/planner/yaml_tree.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace aasm::planner {
namespace {

std::string fault(std::string_view text) {
  const ParsedYaml parsed = parse_yaml(text);
  EXPECT_NE(parsed.root.has_value(), parsed.problem.has_value());
  if (!parsed.problem) {
    return "";
  }
  return std::to_string(parsed.problem->at.line) + ":" + std::to_string(parsed.problem->at.column) +
         " " + parsed.problem->text;
}

struct Faulty {
  const char* reason;
  std::string text;
  const char* expected;
};

TEST(YamlTreeTest, EachFaultyDocumentIsRefusedAtItsPlace) {
  const std::vector<Faulty> rows = {
      {"byte order mark",
       "\xEF\xBB\xBF"
       "a: 1\n",
       "1:1 the document holds a byte order mark"},
      {"UTF-16", std::string("\xFF\xFE\x61\x00", 4), "1:1 the document holds bytes that are not"},
      {"bad UTF-8 in line 2", "a: 1\nb: \xC3\x28\n", "2:4 the document holds bytes that are not"},
      {"overlong UTF-8", "a: \xC0\xAF\n", "1:4 the document holds bytes that are not UTF-8"},
      {"cut UTF-8", "a: \xE2\x82", "1:4 the document holds bytes that are not UTF-8"},
      {"NUL", std::string("a: \0\n", 5), "1:4 the document holds a NUL byte"},
      {"control character", "a: \x01\n", "1:4 the document holds a control character"},
      {"C1 control", "a: \xC2\x85z\n", "1:4 the document holds a control character"},
      {"lone carriage return", "a: 1\rb: 2\n", "1:5 the document holds a carriage return"},
      {"line separator", "a: 1\xE2\x80\xA8z: 2\n", "1:5 the document holds a line separator"},
      {"reading direction", "a: \xE2\x80\xAEx\n", "1:4 the document holds a character that ch"},
      {"tab indents", "a:\n\tb: 1\n", "2:1 the document holds a tab in the indentation"},
      {"tab after dash", "a:\n-\tb\n", "2:2 the document holds a tab in the indentation"},
      {"directive", "%YAML 1.2\n---\na: 1\n", "1:1 the document holds a YAML directive"},
      {"key twice", "a: 1\nb: 2\na: 3\n", "3:1 the document holds the key `a` for the second"},
      {"key twice, quoted", "a: 1\n'a': 2\n", "2:1 the document holds the key `a` for the seco"},
      {"key twice in a flow map", "x: {a: 1, a: 2}\n", "1:11 the document holds the key `a` for"},
      {"two documents", "a: 1\n---\nb: 2\n", "2:1 the document holds a second document"},
      {"text after the end", "a: 1\n...\nb: 2\n", "3:1 the document holds a second document"},
      {"tag", "a: !!str 1\n", "1:4 the document holds a tag"},
      {"tag on a map", "a: !x {b: 1}\n", "1:4 the document holds a tag"},
      {"list as key", "? [a]\n: 1\n", "1:3 the document holds a key that is not plain text"},
      {"alias as key", "a: &x k\n*x : 1\n", "2:1 the document holds a key that is not plain"},
      {"alias to itself", "a: &x [1, *x]\n", "1:11 the document holds an alias inside the very"},
      {"alias to nothing", "a: *x\n", "1:4 this is not YAML"},
      {"double quote left open", "a: 1\nb: \"x\n", "2:4 the document holds a quote that is op"},
      {"single quote left open", "b: 'x\nc: 1\n", "1:4 the document holds a quote that is open"},
      {"open quote, no newline", "b: \"x", "1:4 the document holds a quote that is opened"},
      {"bracket left open", "a: [1, 2\n", "1:1 this is not YAML"},
      {"empty", "", "1:1 the document is empty"},
      {"only a comment", "# nothing\n", "1:1 the document is empty"},
      {"stray bracket", "a: 1\n]\n", "2:1 this is not YAML"},
  };
  for (const Faulty& row : rows) {
    EXPECT_EQ(fault(row.text).substr(0, std::string(row.expected).size()), row.expected)
        << row.reason << ": " << fault(row.text);
  }
}

TEST(YamlTreeTest, SizeIsRefusedAboveOneMebibyteAndNotAtIt) {
  std::string text = "a: 1\n#";
  text.resize(kPolicyMaxBytes, 'x');
  EXPECT_EQ(fault(text), "");
  text += 'x';
  EXPECT_EQ(fault(text), "1:1 the document is larger than 1 MiB (1048576 bytes)");
}

TEST(YamlTreeTest, DepthIsRefusedAboveThirtyTwoLevelsAndNotAtThem) {
  const auto nested = [](std::size_t levels) {
    return std::string(levels, '[') + std::string(levels, ']') + "\n";
  };
  EXPECT_EQ(fault(nested(kYamlMaxDepth)), "");
  EXPECT_EQ(fault(nested(kYamlMaxDepth + 1)), "1:33 the document holds more than 32 levels");
  EXPECT_NE(fault(std::string(100000, '[')), "");
}

TEST(YamlTreeTest, AliasesThatMultiplyAreStoppedByTheCountOfValues) {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n";
  for (int level = 1; level < 7; ++level) {
    const std::string name = "a" + std::to_string(level);
    const std::string below = "*a" + std::to_string(level - 1);
    bomb += name + ": &" + name + " [" + below;
    for (int i = 0; i < 8; ++i) {
      bomb += ", " + below;
    }
    bomb += "]\n";
  }
  EXPECT_NE(fault(bomb).find("more than 20000 values, counting aliases"), std::string::npos);
}

TEST(YamlTreeTest, AliasesAreStoppedByTheirNumberAndByTheirText) {
  std::string many = "a: &a 1\nb: [";
  for (std::size_t i = 0; i <= kYamlMaxAliases; ++i) {
    many += i == 0 ? "*a" : ", *a";
  }
  EXPECT_NE(fault(many + "]\n").find("more than 64 uses of aliases"), std::string::npos);

  const std::string big = "a: &a '" + std::string(900000, 'x') + "'\nb: [*a, *a, *a, *a]\n";
  EXPECT_NE(fault(big).find("bytes, counting aliases"), std::string::npos);
}

TEST(YamlTreeTest, AliasThatWouldGoDeeperThanTheLimitIsRefused) {
  const std::string deep = "a: &a " + std::string(20, '[') + std::string(20, ']') +
                           "\nb: " + std::string(20, '[') + "*a" + std::string(20, ']') + "\n";
  EXPECT_NE(fault(deep).find("more than 32 levels"), std::string::npos);
}

TEST(YamlTreeTest, AliasStandsForACopyOfWhatItNames) {
  const ParsedYaml parsed = parse_yaml("a: &x [p, q]\nb: *x\n");
  ASSERT_TRUE(parsed.root);
  ASSERT_EQ(parsed.root->members.size(), 2U);
  ASSERT_EQ(parsed.root->members[1].value.items.size(), 2U);
  EXPECT_EQ(parsed.root->members[1].value.items[1].text, "q");
}

TEST(YamlTreeTest, PlacesCountCharactersFromOne) {
  const ParsedYaml parsed = parse_yaml("\xC3\xA9\xC3\xA9: [ \xC3\xBC, x ]\n");
  ASSERT_TRUE(parsed.root);
  const YamlNode& list = parsed.root->members[0].value;
  EXPECT_EQ(list.at, (Position{1, 5}));
  EXPECT_EQ(list.items[1].at, (Position{1, 10}));
}

TEST(YamlTreeTest, CarriageReturnsAtLineEndsChangeNothing) {
  const ParsedYaml parsed = parse_yaml("a: x\r\nb:\r\n  - y\r\n");
  ASSERT_TRUE(parsed.root);
  EXPECT_EQ(parsed.root->members[0].value.text, "x");
  EXPECT_EQ(parsed.root->members[1].value.items[0].text, "y");
  EXPECT_EQ(parsed.root->members[1].value.items[0].at, (Position{3, 5}));
}

TEST(YamlTreeTest, ScalarsTellQuotedNullAndFoldedApart) {
  const ParsedYaml parsed = parse_yaml("a: \"5\"\nb: 5\nc:\nd: x\n  y\ne: |\n  z\n");
  ASSERT_TRUE(parsed.root);
  const std::vector<YamlMember>& members = parsed.root->members;
  EXPECT_TRUE(members[0].value.quoted);
  EXPECT_FALSE(members[1].value.quoted);
  EXPECT_EQ(members[2].value.kind, YamlNode::Kind::kNull);
  EXPECT_EQ(members[2].value.at, (Position{3, 1}));
  EXPECT_TRUE(members[3].value.folded);
  EXPECT_FALSE(members[1].value.folded);
  EXPECT_EQ(members[4].value.text, "z\n");
}

TEST(YamlTreeTest, EndOfDocumentMarkerAndCommentsAfterItAreAccepted) {
  EXPECT_EQ(fault("---\na: 1\n...\n# done\n"), "");
}

}  // namespace
}  // namespace aasm::planner
