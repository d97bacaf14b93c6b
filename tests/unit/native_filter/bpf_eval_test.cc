#include "bpf_eval.h"

#include <vector>

#include <gtest/gtest.h>

#include "filter_policy.h"

namespace aasm::backend_native {
namespace {

using Program = std::vector<sock_filter>;

constexpr std::uint32_t kNumber = offsetof(seccomp_data, nr);

std::uint32_t run(const Program& program, const seccomp_data& call = native_call(7, {5, 6})) {
  return evaluate_filter(program, call).value();
}

TEST(BpfEvalTest, LoadsReachEveryFieldOfTheCall) {
  seccomp_data call = native_call(0x01020304, {0x1122334455667788U});
  call.instruction_pointer = 0xAABBCCDD11223344U;
  const std::pair<std::uint32_t, std::uint32_t> fields[] = {
      {kNumber, 0x01020304U}, {4, call.arch},    {8, 0x11223344U}, {12, 0xAABBCCDDU},
      {16, 0x55667788U},      {20, 0x11223344U}, {60, 0U}};
  for (const auto& [offset, value] : fields) {
    EXPECT_EQ(run({BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset), BPF_STMT(BPF_RET | BPF_A, 0)}, call),
              value)
        << offset;
  }
}

TEST(BpfEvalTest, ConditionalJumpsGoBothWays) {
  const auto taken = [](std::uint16_t test, std::uint32_t k) {
    return run({BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kNumber),
                BPF_JUMP(static_cast<std::uint16_t>(BPF_JMP | test | BPF_K), k, 1, 0),
                BPF_STMT(BPF_RET | BPF_K, 0), BPF_STMT(BPF_RET | BPF_K, 1)});
  };
  EXPECT_EQ(taken(BPF_JEQ, 7), 1U);
  EXPECT_EQ(taken(BPF_JEQ, 8), 0U);
  EXPECT_EQ(taken(BPF_JGT, 6), 1U);
  EXPECT_EQ(taken(BPF_JGT, 7), 0U);
  EXPECT_EQ(taken(BPF_JGE, 7), 1U);
  EXPECT_EQ(taken(BPF_JGE, 8), 0U);
  EXPECT_EQ(taken(BPF_JSET, 2), 1U);
  EXPECT_EQ(taken(BPF_JSET, 8), 0U);
}

TEST(BpfEvalTest, ArithmeticAndScratchMemoryWork) {
  EXPECT_EQ(run({BPF_STMT(BPF_LD | BPF_IMM, 6), BPF_STMT(BPF_ST, 3),
                 BPF_STMT(BPF_ALU | BPF_ADD | BPF_K, 10), BPF_STMT(BPF_MISC | BPF_TAX, 0),
                 BPF_STMT(BPF_LD | BPF_MEM, 3), BPF_STMT(BPF_ALU | BPF_OR | BPF_X, 0),
                 BPF_STMT(BPF_ALU | BPF_LSH | BPF_K, 4), BPF_STMT(BPF_RET | BPF_A, 0)}),
            (6U | 16U) << 4U);
}

TEST(BpfEvalTest, DivisionByARegisterOfZeroReturnsZero) {
  EXPECT_EQ(run({BPF_STMT(BPF_LD | BPF_IMM, 6), BPF_STMT(BPF_ALU | BPF_DIV | BPF_X, 0),
                 BPF_STMT(BPF_RET | BPF_K, 9)}),
            0U);
}

TEST(BpfEvalTest, ProgramsTheKernelWouldNotLoadAreErrors) {
  const sock_filter ret = BPF_STMT(BPF_RET | BPF_K, 0);
  const std::pair<const char*, Program> bad[] = {
      {"empty", {}},
      {"no return", {BPF_STMT(BPF_LD | BPF_IMM, 0)}},
      {"jump over the end", {BPF_STMT(BPF_JMP | BPF_JA, 1), ret}},
      {"load of a byte", {BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 0), ret}},
      {"unaligned load", {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 2), ret}},
      {"load behind the call", {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, sizeof(seccomp_data)), ret}},
      {"indirect load", {BPF_STMT(BPF_LD | BPF_W | BPF_IND, 0), ret}},
      {"scratch behind its end", {BPF_STMT(BPF_LD | BPF_MEM, BPF_MEMWORDS), ret}},
      {"store behind its end", {BPF_STMT(BPF_ST, BPF_MEMWORDS), ret}},
      {"division by a constant zero", {BPF_STMT(BPF_ALU | BPF_DIV | BPF_K, 0), ret}},
      {"modulo", {BPF_STMT(BPF_ALU | BPF_MOD | BPF_K, 3), ret}},
  };
  for (const auto& [what, program] : bad) {
    const auto result = evaluate_filter(program, native_call(0));
    ASSERT_FALSE(result) << what;
    EXPECT_EQ(result.error().code(), schema::ErrorCode::kMalformed) << what;
  }
}

}  // namespace
}  // namespace aasm::backend_native
