#include <string>

#include <gtest/gtest.h>

#include "aasm/crypto/ed25519.h"

#include "vectors.h"

// tests/testdata/wycheproof/README.md says where the cases come from.
namespace aasm::crypto {
namespace {

using schema::JsonValue;
using schema::PublicKey;

struct Tally {
  int valid = 0;
  int invalid = 0;
};

void check_case(const PublicKey& key, const JsonValue& test_case, Tally& tally) {
  const bool is_valid = test::text_at(test_case, {"result"}) == "valid";
  (is_valid ? tally.valid : tally.invalid) += 1;
  EXPECT_EQ(verify(key, test::bytes_at(test_case, {"msg"}), test::bytes_at(test_case, {"sig"})),
            is_valid)
      << "case " << *test::at(test_case, {"tcId"}).as_int() << ": "
      << test::text_at(test_case, {"comment"});
}

TEST(WycheproofTest, EveryEd25519CaseGetsItsVerdict) {
  const JsonValue file = test::read_vectors("wycheproof/ed25519_test.json");
  Tally tally;
  for (const JsonValue& group : *test::at(file, {"testGroups"}).as_array()) {
    const PublicKey key = test::public_key(test::text_at(group, {"publicKey", "pk"}));
    for (const JsonValue& test_case : *test::at(group, {"tests"}).as_array()) {
      check_case(key, test_case, tally);
    }
  }
  // So that a file that was cut short cannot pass.
  EXPECT_EQ(tally.valid + tally.invalid, 151);
  EXPECT_GT(tally.valid, 50);
  EXPECT_GT(tally.invalid, 50);
}

}  // namespace
}  // namespace aasm::crypto
