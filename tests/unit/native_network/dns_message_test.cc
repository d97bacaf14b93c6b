#include "dns_message.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "dns_name.h"

namespace aasm::backend_native::dns {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes bytes(const std::string& text) {
  return {text.begin(), text.end()};
}
std::string word(unsigned value) {
  return {static_cast<char>(value >> 8U), static_cast<char>(value)};
}
std::string record(const std::string& owner, unsigned type, unsigned ttl, const std::string& data) {
  return owner + word(type) + word(1) + word(0) + word(ttl) +
         word(static_cast<unsigned>(data.size())) + data;
}

const std::string kAlias("\5alias\7example\0", 15);
const std::string kTarget("\6target\7example\0", 16);
const std::string kOpt = std::string(1, '\0') + word(41) + word(1400) + word(0) + word(0) + word(0);

std::string header(unsigned flags, unsigned answers, unsigned more = 0) {
  return word(0x1234) + word(flags) + word(1) + word(answers) + word(0) + word(more);
}
std::string asked(const std::string& name, unsigned type = 1) {
  return name + word(type) + word(1);
}

TEST(DnsNameTest, AName) {
  EXPECT_EQ(name_text(kAlias), "alias.example");
  EXPECT_EQ(name_text(std::string("\0", 1)), ".");
  EXPECT_EQ(name_text(std::string("\3A.\\\2b\xff\0", 8)), "a\\046\\092.b\\255");
  EXPECT_EQ(name_wire("alias.example"), kAlias);
  EXPECT_EQ(name_wire("alias.example."), kAlias);
  EXPECT_FALSE(name_wire(""));
  EXPECT_FALSE(name_wire("a..b"));
  EXPECT_FALSE(name_wire("a\\000b.example"));
  EXPECT_FALSE(name_wire(std::string(64, 'a')));
  EXPECT_TRUE(same_name(kAlias, std::string("\5ALIAS\7eXample\0", 15)));
  EXPECT_FALSE(same_name(kAlias, kTarget));
}

TEST(DnsNameTest, PointersLeadBackOnly) {
  const std::string zeros(12, '\0');
  const auto at = [&](const std::string& rest, std::size_t offset, Pointers pointers) {
    const Bytes message = bytes(zeros + rest);
    return read_name(message, offset, pointers);
  };
  EXPECT_EQ(at(kAlias + "\xC0\x0C", 27, Pointers::kFollowed)->wire, kAlias);
  EXPECT_EQ(at(kAlias + "\xC0\x0C", 27, Pointers::kFollowed)->end, 29U);
  EXPECT_EQ(at(kAlias + "\1x\xC0\x12", 27, Pointers::kFollowed)->wire,
            std::string("\1x\7example\0", 11));
  EXPECT_FALSE(at(kAlias + "\xC0\x0C", 27, Pointers::kRefused));
  EXPECT_FALSE(at("\xC0\x0C", 12, Pointers::kFollowed)) << "itself";
  EXPECT_FALSE(at("\xC0\x0E\xC0\x0C", 12, Pointers::kFollowed)) << "forward";
  EXPECT_FALSE(at("\1a\xC0\x0C", 12, Pointers::kFollowed)) << "in a circle";
  EXPECT_FALSE(at("\xC0\x01", 12, Pointers::kFollowed)) << "into the header";
  EXPECT_FALSE(at("\xC0", 12, Pointers::kFollowed));
  EXPECT_FALSE(at("\5ali", 12, Pointers::kFollowed));
  EXPECT_FALSE(at("\1a", 12, Pointers::kFollowed)) << "no end";
  EXPECT_FALSE(at(std::string("\x40") + std::string(64, 'a') + std::string(1, '\0'), 12,
                  Pointers::kFollowed));
  std::string longest;
  for (int i = 0; i < 127; ++i) {
    longest += "\1a";
  }
  EXPECT_TRUE(at(longest + std::string(1, '\0'), 12, Pointers::kFollowed));
  EXPECT_FALSE(at(longest + "\1a" + std::string(1, '\0'), 12, Pointers::kFollowed));
}

TEST(DnsMessageTest, AQuestionIsReadWholeOrRefused) {
  const auto question = read_question(bytes(header(0x0120, 0) + asked(kAlias, 28)));
  ASSERT_TRUE(question);
  EXPECT_EQ(question->id, 0x1234);
  EXPECT_TRUE(question->recursion_desired);
  EXPECT_EQ(question->wire, kAlias);
  EXPECT_EQ(question->type, kTypeAaaa);
  EXPECT_FALSE(question->edns);
  const auto edns = read_question(bytes(header(0x0100, 0, 1) + asked(kAlias) + kOpt));
  ASSERT_TRUE(edns && edns->edns);
  EXPECT_EQ(edns->payload, 1400);
  const std::vector<std::pair<const char*, std::string>> faults = {
      {"nothing", ""},
      {"a header alone", header(0, 0)},
      {"a response", header(0x8000, 0) + asked(kAlias)},
      {"truncated", header(0x0200, 0) + asked(kAlias)},
      {"an answer", header(0, 1) + asked(kAlias)},
      {"two questions",
       word(1) + word(0) + word(2) + word(0) + word(0) + word(0) + asked(kAlias) + asked(kAlias)},
      {"more behind", header(0, 0) + asked(kAlias) + "x"},
      {"a name without end", header(0, 0) + kAlias.substr(0, 14)},
      {"no class", header(0, 0) + kAlias + word(1)},
      {"another record than EDNS", header(0, 0, 1) + asked(kAlias) + record(kAlias, 1, 0, "abcd")},
      {"EDNS with a name", header(0, 0, 1) + asked(kAlias) + "\1a" + kOpt},
      {"EDNS and more", header(0, 0, 1) + asked(kAlias) + kOpt + "x"},
      {"two of EDNS", header(0, 0, 2) + asked(kAlias) + kOpt + kOpt},
  };
  for (const auto& [what, message] : faults) {
    EXPECT_FALSE(read_question(bytes(message))) << what;
  }
}

Question ask(bool edns) {
  return *read_question(
      bytes(header(0x0100, 0, edns ? 1 : 0) + asked(kAlias) + (edns ? kOpt : "")));
}

TEST(DnsMessageTest, AnAnswerIsWhatAReaderTakesItFor) {
  Answer answer;
  answer.ttl = 300;
  for (std::uint8_t i = 1; i <= 40; ++i) {
    answer.addresses.push_back({false, {192, 0, 2, i}, 0});
  }
  const Asked same{0x1234, kAlias, kTypeA};
  const auto whole = read_reply(bytes(write_answer(ask(true), answer, kLargestUdp)), same);
  ASSERT_TRUE(whole && !whole->truncated);
  EXPECT_EQ(whole->answer.addresses, answer.addresses);
  EXPECT_EQ(whole->answer.ttl, 300U);
  const std::string cut = write_answer(ask(false), answer, kPlainLimit);
  EXPECT_LE(cut.size(), kPlainLimit);
  EXPECT_TRUE(read_reply(bytes(cut), same)->truncated);
  answer.addresses.resize(kMaxAddresses);
  EXPECT_LE(write_answer(ask(true), answer, kLargestAnswer).size(), kLargestAnswer);
  const std::string blocked =
      write_answer(ask(true), {Rcode::kNameError, {}, 0, true}, kPlainLimit);
  EXPECT_EQ(read_reply(bytes(blocked), same)->answer.rcode, Rcode::kNameError);
  EXPECT_EQ(blocked.substr(blocked.size() - 6), word(15) + word(2) + word(15));
  EXPECT_EQ(write_answer(ask(false), {Rcode::kNameError, {}, 0, true}, kPlainLimit).size(),
            kHeaderBytes + kAlias.size() + 4);
}

TEST(DnsMessageTest, AReplyIsFollowedFromAliasToAddress) {
  const Asked question{0x1234, kAlias, kTypeA};
  const std::string head = asked(kAlias);
  const std::string chain = record("\xC0\x0C", 5, 60, kTarget);
  const std::string found = record(kTarget, 1, 30, std::string("\x5D\xB8\xD8\x22", 4));
  const auto both = read_reply(bytes(header(0x8180, 2) + head + found + chain), question);
  ASSERT_TRUE(both);
  ASSERT_EQ(both->answer.addresses.size(), 1U);
  EXPECT_EQ(address_text(both->answer.addresses[0]), "93.184.216.34");
  EXPECT_EQ(both->answer.ttl, 30U);
  EXPECT_EQ(both->alias, "");
  const auto alias = read_reply(bytes(header(0x8180, 1) + head + chain), question);
  ASSERT_TRUE(alias);
  EXPECT_EQ(alias->alias, kTarget);
  const auto other = read_reply(bytes(header(0x8180, 1) + head + found), question);
  ASSERT_TRUE(other);
  EXPECT_TRUE(other->answer.addresses.empty()) << "nothing leads to that name";
  const std::vector<std::pair<const char*, std::string>> faults = {
      {"no response", header(0x0100, 0) + head},
      {"another number", word(0x1235) + header(0x8180, 0).substr(2) + head},
      {"another name", header(0x8180, 0) + asked(kTarget)},
      {"another type", header(0x8180, 0) + asked(kAlias, 28)},
      {"an answer too few", header(0x8180, 2) + head + chain},
      {"an answer cut off", header(0x8180, 1) + head + found.substr(0, found.size() - 1)},
      {"aliases in a circle", header(0x8180, 1) + head + record("\xC0\x0C", 5, 60, kAlias)},
      {"an alias with more behind",
       header(0x8180, 1) + head + record("\xC0\x0C", 5, 60, kTarget + "x")},
  };
  for (const auto& [what, message] : faults) {
    EXPECT_FALSE(read_reply(bytes(message), question)) << what;
  }
  EXPECT_EQ(read_reply(bytes(header(0x8183, 0) + head), question)->answer.rcode, Rcode::kNameError);
  EXPECT_TRUE(read_reply(bytes(header(0x8380, 9) + head), question)->truncated);
}

TEST(DnsMessageTest, WhatIsNoQuestionIsAnsweredSoByItsNumber) {
  const std::string reply = write_format_error(bytes(header(0, 0)));
  EXPECT_EQ(reply.substr(0, 4), word(0x1234) + word(0x8001));
  EXPECT_EQ(reply.size(), kHeaderBytes);
  EXPECT_EQ(write_format_error(bytes("short")), "");
  EXPECT_EQ(write_format_error(bytes(header(0x8000, 0))), "")
      << "or two of us would answer for ever";
}

}  // namespace
}  // namespace aasm::backend_native::dns
