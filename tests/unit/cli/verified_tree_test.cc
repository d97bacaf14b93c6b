#include "verified_tree.h"

#include <gtest/gtest.h>

#include "aasm/ledger_format/merkle.h"

namespace aasm::cli {
namespace {

schema::LeafHash leaf(std::uint8_t byte) {
  schema::LeafHash hash;
  hash.bytes.fill(byte);
  return hash;
}

class VerifiedTreeTest : public ::testing::Test {
 protected:
  std::vector<schema::LeafHash> leaves_ = {leaf(1), leaf(2), leaf(3), leaf(4), leaf(5)};
  VerifiedTree tree_{5, ledger_format::merkle_root(leaves_)};
};

TEST_F(VerifiedTreeTest, WhatWasVerifiedMayBeRead) {
  EXPECT_TRUE(check_read(tree_, leaves_, {{1, leaf(2)}, {4, leaf(5)}}));
  EXPECT_TRUE(check_read(tree_, leaves_, {}));
}

TEST_F(VerifiedTreeTest, ARecordThatIsAnotherIsRefused) {
  EXPECT_FALSE(check_read(tree_, leaves_, {{1, leaf(2)}, {4, leaf(9)}}));
}

TEST_F(VerifiedTreeTest, LeavesThatAreNotThoseOfTheTreeVouchForNothing) {
  leaves_[4] = leaf(9);
  EXPECT_FALSE(check_read(tree_, leaves_, {{4, leaf(9)}}));
  EXPECT_FALSE(check_read(tree_, leaves_, {}));
  leaves_[4] = leaf(5);
  leaves_.push_back(leaf(6));
  EXPECT_FALSE(check_read(tree_, leaves_, {}));
}

TEST_F(VerifiedTreeTest, ARecordBehindTheTreeIsRefused) {
  EXPECT_FALSE(check_read(tree_, leaves_, {{5, leaf(6)}}));
}

}  // namespace
}  // namespace aasm::cli
