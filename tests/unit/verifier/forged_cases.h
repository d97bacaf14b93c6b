#pragma once

#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "judge.h"

// Rows of tests on ledgers made by somebody who holds keys and breaks a rule: hashes and signatures
// are all sound.
namespace aasm::verifier::test {

using Codes = std::set<std::string>;

struct ForgedCase {
  const char* what;
  void (*build)(Forge&);
  Verdict verdict;
  Codes codes;
};

inline void expect_all(const std::vector<ForgedCase>& cases) {
  for (const ForgedCase& one : cases) {
    Forge forge;
    one.build(forge);
    const VerifyReport report = verify_forged(forge);
    EXPECT_EQ(report.verdict, one.verdict) << one.what << "\n" << report.text;
    EXPECT_EQ(codes(report), one.codes) << one.what << "\n" << report.text;
  }
}

}  // namespace aasm::verifier::test
