#include "outgoing_message.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <netinet/in.h>

namespace aasm::backend_native {
namespace {

constexpr pid_t kBroker = 4711;

NetworkSpec judging() {
  NetworkSpec spec;
  spec.egress_stated = true;
  spec.egress_default = "network.egress";
  return spec;
}

// A message of this process, read as that of a caller.
class Message {
 public:
  Message() {
    header_.msg_iov = pieces_.data();
    header_.msg_iovlen = pieces_.size();
  }
  msghdr& header() { return header_; }

  void add_control(int level, int type, const void* data, std::size_t size) {
    const std::size_t at = control_.size();
    control_.resize(at + CMSG_SPACE(size));
    cmsghdr head{};
    head.cmsg_len = CMSG_LEN(size);
    head.cmsg_level = level;
    head.cmsg_type = type;
    std::memcpy(control_.data() + at, &head, sizeof head);
    std::memcpy(control_.data() + at + sizeof head, data, size);
    header_.msg_control = control_.data();
    header_.msg_controllen = control_.size();
  }

  schema::Result<OutgoingMessage> read() const {
    return read_msghdr(::getpid(), ::getpid(), reinterpret_cast<std::uintptr_t>(&header_),
                       judging(), kBroker);
  }
  int read_errno() const {
    const schema::Result<OutgoingMessage> message = read();
    return message ? 0 : message.error().os_errno();
  }

 private:
  std::string text_ = "hello";
  std::array<iovec, 2> pieces_ = {{{text_.data(), 2}, {text_.data() + 2, 3}}};
  std::vector<char> control_;
  msghdr header_{};
};

TEST(OutgoingMessageTest, ItsPartsAreCopiedAndItsBytesAreNot) {
  Message message;
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  message.header().msg_name = &name;
  message.header().msg_namelen = sizeof name;
  const OutgoingMessage read = message.read().value();
  EXPECT_EQ(read.name.size(), sizeof name);
  EXPECT_EQ(read.total, 5U);
  ASSERT_EQ(read.spans.size(), 2U);
  EXPECT_EQ(read_spans(::getpid(), read.spans, 1, 3).value(), "ell");
}

TEST(OutgoingMessageTest, WhatTheKernelWouldRefuseIsItsErrno) {
  Message name;
  name.header().msg_name = &name;
  name.header().msg_namelen = static_cast<socklen_t>(-1);
  EXPECT_EQ(name.read_errno(), EINVAL);
  Message many;
  many.header().msg_iovlen = 1025;
  EXPECT_EQ(many.read_errno(), EMSGSIZE);
  Message nowhere;
  nowhere.header().msg_iov = nullptr;
  EXPECT_EQ(nowhere.read_errno(), EFAULT);
  iovec huge = {nullptr, SIZE_MAX};
  Message large;
  large.header().msg_iov = &huge;
  large.header().msg_iovlen = 1;
  EXPECT_EQ(large.read_errno(), EINVAL);
  EXPECT_EQ(read_address(::getpid(), 0, -1).error().os_errno(), EINVAL);
  EXPECT_EQ(read_address(::getpid(), 0, 129).error().os_errno(), EINVAL);
  EXPECT_EQ(read_address(::getpid(), 8, 16).error().os_errno(), EFAULT);
}

TEST(OutgoingMessageTest, DescriptorsAreTakenAndTheirMessageIsNotPassedOn) {
  const process::Fd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const std::array<int, 2> passed = {null.get(), null.get()};
  Message message;
  message.add_control(SOL_SOCKET, SCM_RIGHTS, passed.data(), sizeof passed);
  const OutgoingMessage read = message.read().value();
  EXPECT_EQ(read.rights.size(), 2U);
  EXPECT_TRUE(read.control.empty());
  const int closed = 1 << 20;
  Message bad;
  bad.add_control(SOL_SOCKET, SCM_RIGHTS, &closed, sizeof closed);
  EXPECT_EQ(bad.read_errno(), EBADF);
}

TEST(OutgoingMessageTest, WhoClaimsToBeItselfBecomesTheBrokerAndNobodyElseMay) {
  ucred own = {::getpid(), ::getuid(), ::getgid()};
  Message message;
  message.add_control(SOL_SOCKET, SCM_CREDENTIALS, &own, sizeof own);
  const OutgoingMessage read = message.read().value();
  ucred said{};
  std::memcpy(&said, read.control.data() + sizeof(cmsghdr), sizeof said);
  EXPECT_EQ(said.pid, kBroker);
  own.pid = 1;
  Message other;
  other.add_control(SOL_SOCKET, SCM_CREDENTIALS, &own, sizeof own);
  EXPECT_EQ(other.read_errno(), EPERM);
}

TEST(OutgoingMessageTest, ARouteInAControlMessageIsRefusedAndOtherOptionsPass) {
  const std::array<char, 8> option = {};
  Message route;
  route.add_control(IPPROTO_IP, IP_RETOPTS, option.data(), option.size());
  const schema::Result<OutgoingMessage> refused = route.read();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().os_errno(), EPERM);
  EXPECT_FALSE(is_kernel_answer(refused.error()));
  Message other;
  other.add_control(IPPROTO_IP, IP_TOS, option.data(), 4);
  EXPECT_EQ(other.read().value().control.size(), CMSG_SPACE(4));
}

TEST(OutgoingMessageTest, LengthsOfControlMessagesAreChecked) {
  const std::array<char, 2000> much = {};
  Message large;
  large.add_control(IPPROTO_IP, IP_TOS, much.data(), much.size());
  EXPECT_EQ(large.read_errno(), ENOBUFS);
  Message vast;
  vast.add_control(IPPROTO_IP, IP_TOS, much.data(), 8);
  vast.header().msg_controllen = 1U << 20U;
  EXPECT_EQ(vast.read_errno(), ENOBUFS);
  Message cut;
  cut.add_control(IPPROTO_IP, IP_TOS, much.data(), 8);
  cut.header().msg_controllen -= 8;
  EXPECT_EQ(cut.read_errno(), EINVAL);
}

}  // namespace
}  // namespace aasm::backend_native
