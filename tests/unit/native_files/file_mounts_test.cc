#include "file_mounts.h"

#include <gtest/gtest.h>

namespace aasm::backend_native {
namespace {

using Places = std::vector<std::string>;

constexpr const char* kMounts =
    "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
    "23 22 0:21 / /proc rw - proc proc rw\n"
    "40 22 8:1 /w/kept/deep /m rw - ext4 /dev/sda1 rw\n"
    "41 22 8:1 /w /all rw - ext4 /dev/sda1 rw\n"
    "42 22 8:2 /w/kept/deep /other rw - ext4 /dev/sdb1 rw\n"
    "43 22 8:1 /w/kept\\040two/deep /two rw - ext4 /dev/sda1 rw\n"
    "44 22 8:3 /store /data rw - ext4 /dev/sdc1 rw\n"
    "45 44 8:3 /store/key/part /data/shown rw - ext4 /dev/sdc1 rw\n"
    "no line\n";

TEST(FileMountsTest, FindWhatIsShownFromBelowAPlace) {
  EXPECT_EQ(mounts_from_below(kMounts, "/w/kept"), Places{"/m"});
  EXPECT_EQ(mounts_from_below(kMounts, "/w/kept two"), Places{"/two"});
  EXPECT_EQ(mounts_from_below(kMounts, "/data/key"), Places{"/data/shown"});
}

TEST(FileMountsTest, WhatLeadsBackToThePlaceIsNotListed) {
  EXPECT_EQ(mounts_from_below(kMounts, "/w/kept/deep"), Places{});
  EXPECT_EQ(mounts_from_below(kMounts, "/w/kept/deeper"), Places{});
  EXPECT_EQ(mounts_from_below("", "/w"), Places{});
}

}  // namespace
}  // namespace aasm::backend_native
