#include "aasm/process/proc_status.h"

#include <unistd.h>

#include <string>

#include <gtest/gtest.h>

namespace aasm::process {
namespace {

const char* const kStatTail =
    " S 1 42 7 0 -1 4194560 100 0 0 0 1 2 0 0 20 0 1 0 987654 1000 10 18446744073709551615";

TEST(ProcStatTest, FieldsAreTakenFromTheirPlaces) {
  const auto stat = parse_proc_stat(std::string("4711 (name)") + kStatTail);
  ASSERT_TRUE(stat.has_value());
  EXPECT_EQ(stat->pid, 4711);
  EXPECT_EQ(stat->comm, "name");
  EXPECT_EQ(stat->state, 'S');
  EXPECT_EQ(stat->ppid, 1);
  EXPECT_EQ(stat->process_group, 42);
  EXPECT_EQ(stat->session, 7);
  EXPECT_EQ(stat->start_time_ticks, 987654U);
}

TEST(ProcStatTest, NameThatLooksLikeFieldsDoesNotShiftThem) {
  for (const std::string name : {") R 99", "a) Z 3 (b", "", "x\ny", ") ", "(", ")"}) {
    const auto stat = parse_proc_stat("4711 (" + name + ")" + kStatTail);
    ASSERT_TRUE(stat.has_value()) << name;
    EXPECT_EQ(stat->comm, name);
    EXPECT_EQ(stat->ppid, 1) << name;
    EXPECT_EQ(stat->start_time_ticks, 987654U) << name;
  }
}

TEST(ProcStatTest, EachBrokenTextIsRefused) {
  const std::string tail = kStatTail;
  for (const std::string& text :
       {std::string(), "4711 name" + tail, "x (name)" + tail, "-5 (name)" + tail,
        std::string("4711 (name) S 1 42 7"), std::string("4711 (name)"),
        "4711 (name) SS" + tail.substr(2), "4711 (name) S x" + tail.substr(4)}) {
    const auto stat = parse_proc_stat(text);
    ASSERT_FALSE(stat.has_value()) << text;
    EXPECT_EQ(stat.error().code(), schema::ErrorCode::kMalformed);
  }
}

std::string status_text() {
  return "Name:\tdecoy\nTgid:\t10\nPPid:\t9\nTracerPid:\t3\nUid:\t1\t2\t3\t4\nGid:\t5\t6\t7\t8\n"
         "CapInh:\t0000000000000000\nCapPrm:\t0000000000000001\nCapEff:\t0000000000000002\n"
         "CapBnd:\t000001ffffffffff\nCapAmb:\t0000000000000004\nNoNewPrivs:\t1\nSeccomp:\t2\n"
         "Seccomp_filters:\t1\n";
}

TEST(ProcStatusTest, FieldsAreTakenByName) {
  const auto status = parse_proc_status(status_text());
  ASSERT_TRUE(status.has_value());
  EXPECT_EQ(status->tgid, 10);
  EXPECT_EQ(status->ppid, 9);
  EXPECT_EQ(status->tracer_pid, 3);
  EXPECT_EQ(status->effective_uid, 2);
  EXPECT_EQ(status->effective_gid, 6);
  EXPECT_EQ(status->cap_permitted, "0000000000000001");
  EXPECT_EQ(status->cap_effective, "0000000000000002");
  EXPECT_EQ(status->cap_bounding, "000001ffffffffff");
  EXPECT_EQ(status->cap_ambient, "0000000000000004");
  EXPECT_TRUE(status->no_new_privs);
  EXPECT_EQ(status->seccomp_mode, 2);
}

TEST(ProcStatusTest, TextWithoutOneOfTheLinesIsRefused) {
  for (const std::string name : {"Tgid", "PPid", "TracerPid", "Uid", "Gid", "CapInh", "CapPrm",
                                 "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp"}) {
    std::string text = status_text();
    text.replace(text.find("\n" + name + ":") + 1, name.size(), "Gone");
    EXPECT_FALSE(parse_proc_status(text).has_value()) << name;
  }
}

TEST(ProcStatusTest, MaskThatIsNoMaskIsRefused) {
  std::string text = status_text();
  text.replace(text.find("000001ffffffffff"), 16, "000001fffffffffg");
  EXPECT_FALSE(parse_proc_status(text).has_value());
}

TEST(ProcStatusTest, NumbersOfALineInItsBase) {
  const std::string text =
      "Name:\tx\\nUid:\t9\nUmask:\t0022\nUid:\t0\t5\nGroups:\t \nSigPnd:\tff\nBad:\t1 x\n";
  EXPECT_EQ(status_numbers(text, "Uid", 10).value(), (std::vector<std::uint64_t>{0, 5}));
  EXPECT_EQ(status_numbers(text, "Umask", 8).value(), std::vector<std::uint64_t>{18});
  EXPECT_EQ(status_numbers(text, "SigPnd", 16).value(), std::vector<std::uint64_t>{255});
  EXPECT_TRUE(status_numbers(text, "Groups", 10).value().empty());
  EXPECT_FALSE(status_numbers(text, "Gid", 10));
  EXPECT_FALSE(status_numbers(text, "Bad", 10));
}

TEST(ProcReaderTest, OwnProcessReadsAsItself) {
  const auto stat = read_proc_stat(::getpid());
  ASSERT_TRUE(stat.has_value());
  EXPECT_EQ(stat->pid, ::getpid());
  EXPECT_EQ(stat->ppid, ::getppid());
  EXPECT_EQ(stat->session, ::getsid(0));
  EXPECT_GT(stat->start_time_ticks, 0U);
  const auto status = read_proc_status(::getpid());
  ASSERT_TRUE(status.has_value());
  EXPECT_EQ(status->tgid, ::getpid());
  EXPECT_EQ(status->effective_uid, static_cast<std::int64_t>(::geteuid()));
}

TEST(ProcReaderTest, ProcessThatDoesNotExistIsNotFound) {
  constexpr pid_t kBeyondPidMax = 0x7FFFFFF0;
  const auto stat = read_proc_stat(kBeyondPidMax);
  ASSERT_FALSE(stat.has_value());
  EXPECT_EQ(stat.error().code(), schema::ErrorCode::kNotFound);
}

}  // namespace
}  // namespace aasm::process
