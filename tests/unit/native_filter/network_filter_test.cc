#include <seccomp.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "bpf.h"
#include "bpf_eval.h"
#include "classify.h"
#include "filter_policy.h"
#include "network_judge.h"

// The calls on sockets that a stated network_egress has judged.
namespace aasm::backend_native {
namespace {

FilterSpec with_network(FilterSpec spec) {
  schema::Requirement egress;
  egress.domain = schema::Domain::kNetworkEgress;
  egress.default_rule = "network.egress";
  spec.network = make_network_spec(&egress, nullptr).value();
  return spec;
}

bool allowed(const std::vector<sock_filter>& program, const seccomp_data& call) {
  return evaluate_filter(program, call).value() == SECCOMP_RET_ALLOW;
}

constexpr std::array<std::uint64_t, 17> kWords = {
    0, 1, 2, 3, 4, 5, 6, 7, 10, 16, 17, 32, 41, 57, 262, 0x80002, (1ULL << 32U) | 2};

TEST(NetworkFilterTest, EverySocketThatRunsUnseenIsOneThatTheJudgeLetsBeMade) {
  const FilterSpec spec = with_network(unstated_spec());
  const std::vector<sock_filter> program = build_filter(spec);
  std::size_t unseen = 0;
  for (const std::uint64_t family : kWords) {
    for (const std::uint64_t type : kWords) {
      for (const std::uint64_t protocol : kWords) {
        const seccomp_data call = native_call(SYS_socket, {family, type, protocol});
        const Classification verdict = classify({call, 1, 1}, spec);
        if (allowed(program, call)) {
          ++unseen;
          EXPECT_EQ(verdict.answer, AnswerKind::kContinue)
              << family << ' ' << type << ' ' << protocol;
        }
      }
    }
  }
  EXPECT_GT(unseen, 100U);
  EXPECT_TRUE(allowed(program, native_call(SYS_socket, {AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 6})));
  EXPECT_TRUE(allowed(program, native_call(SYS_socket, {AF_INET, SOCK_DGRAM, 17})));
  EXPECT_FALSE(allowed(program, native_call(SYS_socket, {AF_INET, SOCK_RAW, 1})));
  EXPECT_FALSE(allowed(program, native_call(SYS_socket, {AF_INET, SOCK_DGRAM, 1})));
  EXPECT_FALSE(allowed(program, native_call(SYS_socket, {AF_PACKET, SOCK_DGRAM, 0})));
}

TEST(NetworkFilterTest, AnsweredSocketsAreRefusedByRuleOrRunByTheirRegisters) {
  const FilterSpec spec = with_network(unstated_spec());
  const auto answer = [&spec](int family, int type, int protocol) {
    return classify(
        {native_call(SYS_socket, {static_cast<unsigned>(family), static_cast<unsigned>(type),
                                  static_cast<unsigned>(protocol)}),
         1, 1},
        spec);
  };
  const Classification route = answer(AF_NETLINK, SOCK_RAW, 0);
  EXPECT_EQ(route.answer, AnswerKind::kContinue);
  EXPECT_FALSE(route.recorded);
  const Classification raw = answer(AF_INET, SOCK_RAW, 1);
  EXPECT_EQ(raw.answer, AnswerKind::kRefuse);
  EXPECT_EQ(raw.event.os_errno, EPERM);
  EXPECT_EQ(raw.event.rule, "network.egress");
  EXPECT_EQ(raw.event.domain, schema::Domain::kNetworkEgress);
}

TEST(NetworkFilterTest, SendtoIsSeenWithAnAddressOrAFastOpenAndRunsWithoutBoth) {
  const FilterSpec spec = with_network(unstated_spec());
  const std::vector<sock_filter> program = build_filter(spec);
  for (const std::uint64_t address : {0ULL, 1ULL, 1ULL << 32U, 0x7FFF00000000ULL}) {
    for (const std::uint64_t flags : {0ULL, 0x40ULL, 0x20000000ULL, 0x20004000ULL}) {
      const seccomp_data call = native_call(SYS_sendto, {3, 4, 5, flags, address, 16});
      EXPECT_EQ(allowed(program, call), address == 0 && (flags & kFastOpen) == 0)
          << address << ' ' << flags;
      EXPECT_EQ(classify({call, 1, 1}, spec).answer, AnswerKind::kBroker);
    }
  }
}

FilterSpec with_names(FilterSpec spec, const char* pattern) {
  schema::Requirement names;
  names.domain = schema::Domain::kNameResolution;
  names.default_rule = "name_resolution.allow";
  if (*pattern != '\0') {
    schema::PolicyRule rule;
    rule.id = "name_resolution.allow[0]";
    rule.operation = "resolve";
    rule.selector = {schema::SelectorType::kHostPattern, schema::PathBytes(pattern)};
    names.rules = {rule};
  }
  spec.network = make_network_spec(nullptr, &names).value();
  return spec;
}

TEST(NetworkFilterTest, WhoIsHeardFromIsSeenWhereNamesAreAnsweredAndNotElse) {
  const FilterSpec answers = with_names(unstated_spec(), "a.example");
  const FilterSpec closed = with_names(unstated_spec(), "");
  for (const long number : {SYS_recvfrom, SYS_recvmsg, SYS_recvmmsg, SYS_getpeername}) {
    for (const std::uint64_t address : {0ULL, 1ULL, 1ULL << 32U}) {
      const seccomp_data call =
          native_call(static_cast<std::int32_t>(number), {3, 4, 5, 0, address, 6});
      const bool says_nothing = number == SYS_recvfrom && address == 0;
      EXPECT_EQ(allowed(build_filter(answers), call), says_nothing) << number << ' ' << address;
      EXPECT_TRUE(receives(call, answers));
      EXPECT_EQ(classify({call, 1, 1}, answers).answer, AnswerKind::kContinue);
      EXPECT_FALSE(classify({call, 1, 1}, answers).recorded);
      EXPECT_TRUE(allowed(build_filter(closed), call));
      EXPECT_FALSE(receives(call, closed));
    }
  }
  const FilterSpec listed = with_names(spec_of(syscall_policy({"read"})), "a.example");
  EXPECT_FALSE(receives(native_call(SYS_recvmsg), listed)) << "the list of calls refuses it";
  EXPECT_EQ(classify({native_call(SYS_recvmsg), 1, 1}, listed).answer, AnswerKind::kRefuse);
}

TEST(NetworkFilterTest, OptionsThatCarryARouteAreRefusedAndOthersRunUnseen) {
  const FilterSpec spec = with_network(unstated_spec());
  const std::vector<sock_filter> program = build_filter(spec);
  for (std::uint64_t level = 0; level < 300; ++level) {
    for (std::uint64_t option = 0; option < 80; ++option) {
      const seccomp_data call = native_call(SYS_setsockopt, {3, level, option, 5, 6});
      const bool route = option_carries_route(static_cast<int>(level), static_cast<int>(option));
      EXPECT_EQ(allowed(program, call), !route) << level << ' ' << option;
      if (route) {
        EXPECT_EQ(classify({call, 1, 1}, spec).answer, AnswerKind::kRefuse);
      }
    }
  }
}

TEST(NetworkFilterTest, CallsThatPointToAnAddressAreAlwaysSeen) {
  const FilterSpec judged = with_network(unstated_spec());
  const std::vector<sock_filter> program = build_filter(judged);
  const std::vector<sock_filter> open = build_filter(unstated_spec());
  for (const std::int32_t number : {SYS_connect, SYS_bind, SYS_listen, SYS_sendmsg, SYS_sendmmsg}) {
    EXPECT_FALSE(allowed(program, native_call(number)));
    EXPECT_EQ(classify({native_call(number), 1, 1}, judged).answer, AnswerKind::kBroker);
    EXPECT_TRUE(allowed(open, native_call(number))) << "policy does not state the network";
  }
  EXPECT_TRUE(allowed(program, native_call(SYS_accept4)));
  EXPECT_TRUE(allowed(program, native_call(SYS_recvmsg)));
}

TEST(NetworkFilterTest, WhatTheListOfCallsRefusesStaysRefusedByIt) {
  const FilterSpec spec = with_network(spec_of(syscall_policy({"read", "sendto"}, {"bind"})));
  const Classification connect = classify({native_call(SYS_connect), 1, 1}, spec);
  EXPECT_EQ(connect.answer, AnswerKind::kRefuse);
  EXPECT_EQ(connect.event.domain, schema::Domain::kSyscall);
  EXPECT_EQ(classify({native_call(SYS_bind), 1, 1}, spec).event.rule, "syscalls.deny[0]");
  EXPECT_EQ(classify({native_call(SYS_sendto), 1, 1}, spec).answer, AnswerKind::kBroker);
}

// libseccomp compiles the same tests from rules of its own.
TEST(NetworkFilterTest, LibseccompDecidesAlike) {
  if (kNativeArch != SyscallArch::kX86_64) {
    GTEST_SKIP() << "the oracle's policy is written for x86_64";
  }
  if (seccomp_api_get() < 5) {
    ASSERT_EQ(seccomp_api_set(6), 0) << "libseccomp cannot notify here";
  }
  void* made = seccomp_init(SCMP_ACT_NOTIFY);
  seccomp_attr_set(made, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_NOTIFY);
  const auto low = [](unsigned argument, std::uint64_t value, std::uint64_t mask = 0xFFFFFFFF) {
    return scmp_arg_cmp{argument, SCMP_CMP_MASKED_EQ, mask, value};
  };
  const auto allow = [made](int number, const std::vector<scmp_arg_cmp>& tests) {
    EXPECT_EQ(seccomp_rule_add_array(made, SCMP_ACT_ALLOW, number,
                                     static_cast<unsigned>(tests.size()), tests.data()),
              0);
  };
  allow(SCMP_SYS(socket), {low(0, AF_UNIX)});
  for (const std::uint64_t family : {2U, 10U}) {
    allow(SCMP_SYS(socket), {low(0, family), low(1, SOCK_STREAM, 0xF), low(2, 0)});
    allow(SCMP_SYS(socket), {low(0, family), low(1, SOCK_STREAM, 0xF), low(2, 6)});
    allow(SCMP_SYS(socket), {low(0, family), low(1, SOCK_DGRAM, 0xF), low(2, 0)});
    allow(SCMP_SYS(socket), {low(0, family), low(1, SOCK_DGRAM, 0xF), low(2, 17)});
  }
  allow(SCMP_SYS(sendto), {scmp_arg_cmp{4, SCMP_CMP_EQ, 0, 0}, low(3, 0, kFastOpen)});
  const int fd = ::memfd_create("oracle", MFD_CLOEXEC);
  ASSERT_EQ(seccomp_export_bpf(made, fd), 0);
  const off_t size = ::lseek(fd, 0, SEEK_END);
  std::vector<sock_filter> theirs(static_cast<std::size_t>(size) / sizeof(sock_filter));
  ASSERT_EQ(::pread(fd, theirs.data(), static_cast<std::size_t>(size), 0), size);
  ::close(fd);
  seccomp_release(made);
  const std::vector<sock_filter> ours =
      build_filter(with_network(spec_of(syscall_policy({"socket", "sendto"}))));
  for (const std::uint64_t first : kWords) {
    for (const std::uint64_t second : kWords) {
      for (const std::uint64_t third : kWords) {
        const seccomp_data socket = native_call(SYS_socket, {first, second, third});
        EXPECT_EQ(allowed(ours, socket), allowed(theirs, socket))
            << first << ' ' << second << ' ' << third;
        const seccomp_data send =
            native_call(SYS_sendto, {3, 4, 5, first << 28U, second == 2 ? 0 : second, third});
        EXPECT_EQ(allowed(ours, send), allowed(theirs, send)) << first << ' ' << second;
      }
    }
  }
}

}  // namespace
}  // namespace aasm::backend_native
