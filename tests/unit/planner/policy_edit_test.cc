#include "aasm/planner/policy_edit.h"

#include <gtest/gtest.h>

#include "aasm/planner/yaml_tree.h"

namespace aasm::planner {
namespace {

const std::vector<std::string> kRead = {"filesystem", "read", "allow"};

std::string added(const std::string& text, std::vector<std::string> list = kRead) {
  const auto insertions = plan_insertions(text, {{std::move(list), {{"why", "\"/x\""}}}});
  EXPECT_TRUE(insertions) << insertions.error().message();
  const std::string changed = insertions ? apply_insertions(text, *insertions) : "";
  EXPECT_TRUE(parse_yaml(changed).root) << changed;
  return changed;
}

struct EditRow {
  const char* what;
  const char* before;
  const char* after;
};

class PolicyEditTest : public ::testing::TestWithParam<EditRow> {};

TEST_P(PolicyEditTest, AnEntryGoesBehindThoseThatAreThere) {
  EXPECT_EQ(added(GetParam().before), GetParam().after);
}

INSTANTIATE_TEST_SUITE_P(
    Lists, PolicyEditTest,
    ::testing::Values(
        EditRow{"one line", "spec:\n  filesystem: { read: { allow: [/a, /b] } }\n",
                "spec:\n  filesystem: { read: { allow: [/a, /b,\n      # why\n      \"/x\"\n"
                "      ] } }\n"},
        EditRow{"an empty list", "filesystem:\n  read: { allow: [] } # c\n",
                "filesystem:\n  read: { allow: [\n      # why\n      \"/x\"\n      ] } # c\n"},
        EditRow{"a comma at the end", "filesystem: { read: { allow: [/a, ] } }\n",
                "filesystem: { read: { allow: [/a,\n    # why\n    \"/x\"\n     ] } }\n"},
        EditRow{"brackets and # in quotes",
                "filesystem: { read: { allow: [\"/a]#\", '/b''['] } }\n",
                "filesystem: { read: { allow: [\"/a]#\", '/b''[',\n    # why\n    \"/x\"\n"
                "    ] } }\n"},
        EditRow{"several lines with a comment",
                "filesystem:\n  read:\n    allow: [\n      /a, # not ]\n      /b # last\n    ]\n",
                "filesystem:\n  read:\n    allow: [\n      /a, # not ]\n      /b, # last\n"
                "        # why\n        \"/x\"\n    ]\n"},
        EditRow{"dashes",
                "filesystem:\n  read:\n    allow:\n      - /a\n      - /b # c\n\n  write: 1\n",
                "filesystem:\n  read:\n    allow:\n      - /a\n      - /b # c\n      # why\n"
                "      - \"/x\"\n\n  write: 1\n"},
        EditRow{"dashes below their key",
                "filesystem:\n  read:\n    allow:\n    - /a\n    other: 1\n",
                "filesystem:\n  read:\n    allow:\n    - /a\n    # why\n    - \"/x\"\n"
                "    other: 1\n"},
        EditRow{"dashes without a last line end", "filesystem:\n  read:\n    allow:\n      - /a",
                "filesystem:\n  read:\n    allow:\n      - /a\n      # why\n      - \"/x\"\n"},
        EditRow{"a key that is missing in braces", "filesystem: { read: { deny: [] } }\n",
                "filesystem: { read: { deny: [], allow: [\n    # why\n    \"/x\"\n    ] } }\n"},
        EditRow{"a key that is missing in a block", "filesystem:\n  write: 1\nother: 2\n",
                "filesystem:\n  write: 1\n  read: { allow: [\n      # why\n      \"/x\"\n"
                "      ] }\nother: 2\n"}),
    [](const auto& row) {
      std::string name = row.param.what;
      for (char& one : name) {
        one = (one >= 'a' && one <= 'z') ? one : '_';
      }
      return name;
    });

TEST(PolicyEditTest, WhatIsNoListIsAnErrorThatNamesIt) {
  for (const char* text : {"filesystem: { read: { allow: 3 } }\n", "filesystem: 1\n",
                           "a: &x [/a]\nfilesystem: { read: { allow: !!seq [/a] } }\n"}) {
    const auto insertions = plan_insertions(text, {{kRead, {{"why", "/x"}}}});
    EXPECT_FALSE(insertions) << text;
  }
}

TEST(PolicyEditTest, ADiffIsWhatPatchReads) {
  std::string text;
  for (int i = 1; i <= 20; ++i) {
    text += "line " + std::to_string(i) + "\n";
  }
  const std::vector<Insertion> change = {
      {text.find("line 5"), "new\n"}, {text.find("15\n"), "x"}, {text.size(), "end\n"}};
  EXPECT_EQ(unified_diff(text, change, "p"),
            "--- p\n+++ p\n"
            "@@ -2,6 +2,7 @@\n line 2\n line 3\n line 4\n+new\n line 5\n line 6\n line 7\n"
            "@@ -12,9 +13,10 @@\n line 12\n line 13\n line 14\n-line 15\n+line x15\n line 16\n"
            " line 17\n line 18\n line 19\n line 20\n+end\n");
  EXPECT_EQ(unified_diff(text, {}, "p"), "");
  EXPECT_EQ(unified_diff("a", {{1, "\nb\n"}}, "p"),
            "--- p\n+++ p\n@@ -1 +1,2 @@\n-a\n\\ No newline at end of file\n+a\n+b\n");
}

}  // namespace
}  // namespace aasm::planner
