#include "aasm/process/open_descriptors.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>

#include <gtest/gtest.h>

#include "aasm/process/fd.h"

namespace aasm::process {
namespace {

using schema::DescriptorKind;

std::optional<OpenDescriptor> listed(int number) {
  const auto list = list_open_descriptors();
  EXPECT_TRUE(list) << list.error().message();
  const auto found = std::find_if(list->begin(), list->end(),
                                  [&](const auto& one) { return one.number == number; });
  return found == list->end() ? std::nullopt : std::optional(*found);
}

TEST(OpenDescriptorsTest, EachIsListedByWhatItRefersTo) {
  const Fd file(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  const Fd folder(::open("/", O_RDONLY | O_DIRECTORY));
  const Fd device(::open("/dev/null", O_RDWR | O_CLOEXEC));
  const Fd event(::eventfd(0, EFD_CLOEXEC));
  const auto memory = make_memfd("ledger.db");
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  const Fd socket(ends[0]);
  const Fd other(ends[1]);
  EXPECT_EQ(listed(file.get())->kind, DescriptorKind::kFile);
  EXPECT_FALSE(listed(file.get())->writable);
  EXPECT_TRUE(listed(file.get())->close_on_exec);
  EXPECT_EQ(listed(folder.get())->kind, DescriptorKind::kDirectory);
  EXPECT_FALSE(listed(folder.get())->close_on_exec);
  EXPECT_EQ(listed(device.get())->kind, DescriptorKind::kDevice);
  EXPECT_TRUE(listed(device.get())->writable);
  EXPECT_EQ(listed(event.get())->kind, DescriptorKind::kAnonymous);
  EXPECT_EQ(listed(memory->get())->kind, DescriptorKind::kMemfd);
  EXPECT_EQ(listed(socket.get())->kind, DescriptorKind::kSocket);
}

TEST(OpenDescriptorsTest, WhatIsClosedIsNotListedNorIsTheListingItself) {
  const auto before = list_open_descriptors();
  ASSERT_TRUE(before);
  const auto after = list_open_descriptors();
  ASSERT_TRUE(after);
  EXPECT_EQ(before->size(), after->size());
  const int number = Fd(::open("/dev/null", O_RDONLY | O_CLOEXEC)).get();
  EXPECT_FALSE(listed(number));
}

TEST(OpenDescriptorsTest, NumbersRise) {
  const Fd high(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 900));
  const auto list = list_open_descriptors();
  ASSERT_TRUE(list);
  EXPECT_TRUE(std::is_sorted(list->begin(), list->end(),
                             [](const auto& a, const auto& b) { return a.number < b.number; }));
  EXPECT_EQ(list->back().number, high.get());
}

}  // namespace
}  // namespace aasm::process
