#include "caller_state.h"

#include <unistd.h>

#include <cerrno>
#include <string>

#include <gtest/gtest.h>

namespace aasm::backend_native {
namespace {

std::string status_text(const std::string& uids = "0\t7\t0\t7") {
  return "Name:\tUid:\\t9\nUmask:\t0027\nUid:\t" + uids +
         "\nGid:\t1\t2\t3\t2\nGroups:\t4 27 \nSigPnd:\t0000000000000005\n"
         "ShdPnd:\t0000000000000002\nSigBlk:\t0000000000000001\nCapEff:\t00000000000000ff\n";
}

TEST(CallerStatusTest, IsWhatTheCallIsMadeWith) {
  const CallerStatus status = parse_caller_status(status_text()).value();
  EXPECT_EQ(status.credentials.uid, 7U);
  EXPECT_EQ(status.credentials.gid, 2U);
  EXPECT_EQ(status.credentials.groups, (std::vector<std::uint32_t>{4, 27}));
  EXPECT_EQ(status.credentials.capabilities, 0xFFU);
  EXPECT_EQ(status.mode_mask, 0027U);
  EXPECT_EQ(status.waiting_signals, 6U) << "pending for thread or process, and not blocked";
  EXPECT_TRUE(status.plain);
  EXPECT_FALSE(parse_caller_status(status_text("0\t7\t0\t8")).value().plain);
}

TEST(CallerStatusTest, ATextThatIsNotWholeIsAFault) {
  EXPECT_FALSE(parse_caller_status(""));
  EXPECT_FALSE(parse_caller_status(status_text("0\t7\t0")));
  const std::string text = status_text();
  for (const char* line :
       {"Umask:", "Gid:", "Groups:", "SigPnd:", "ShdPnd:", "SigBlk:", "CapEff:"}) {
    std::string cut = text;
    cut.replace(cut.find(std::string("\n") + line) + 1, 1, "x");
    EXPECT_FALSE(parse_caller_status(cut)) << line;
  }
}

TEST(CallerStatusTest, OfThisProcess) {
  const CallerStatus status = read_caller_status(::getpid()).value();
  EXPECT_EQ(status.credentials.uid, ::geteuid());
  EXPECT_EQ(status.credentials.gid, ::getegid());
}

TEST(TakenDescriptorTest, IsTheCallersOrEBADF) {
  EXPECT_EQ(take_descriptor(::getpid(), -1).error().os_errno(), EBADF);
  EXPECT_EQ(take_descriptor(::getpid(), 1 << 20).error().os_errno(), EBADF);
  EXPECT_TRUE(take_descriptor(::getpid(), STDIN_FILENO));
}

}  // namespace
}  // namespace aasm::backend_native
