#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "network_address.h"

// Messages of the domain name system, read strictly: what is not as written here is refused whole
// (RFC 1035 section 4, EDNS of RFC 6891, the code of RFC 8914). Pure.
namespace aasm::backend_native::dns {

inline constexpr std::uint16_t kTypeA = 1;
inline constexpr std::uint16_t kTypeAaaa = 28;
inline constexpr std::size_t kHeaderBytes = 12;
inline constexpr std::size_t kPlainLimit = 512;      // of a message over UDP without EDNS
inline constexpr std::size_t kLargestUdp = 1232;     // that is sent with it
inline constexpr std::size_t kMaxAddresses = 64;     // of one answer; more are left out
inline constexpr std::size_t kLargestAnswer = 2304;  // that write_answer() makes

enum class Rcode : std::uint8_t {
  kNoError = 0,
  kFormatError = 1,
  kServerFailure = 2,
  kNameError = 3,
  kNotImplemented = 4,
  kBadVersion = 16,  // needs EDNS
};

// What a program asks. One question of a query, without other records than that of EDNS.
struct Question {
  std::uint16_t id = 0;
  bool recursion_desired = false;
  std::uint8_t opcode = 0;
  std::string wire;  // the name as it came, to be sent back
  std::uint16_t type = 0;
  std::uint16_t record_class = 0;
  bool edns = false;
  std::uint8_t edns_version = 0;
  std::uint16_t payload = 0;  // bytes over UDP that the sender takes, where `edns`
};
std::optional<Question> read_question(std::span<const std::uint8_t> message);

struct Answer {
  Rcode rcode = Rcode::kNoError;
  std::vector<InternetAddress> addresses;  // of the type asked for; their port is 0
  std::uint32_t ttl = 0;                   // seconds
  bool blocked = false;                    // said to senders that know EDNS
};
// `limit`: bytes; what is longer is sent without addresses and marked as truncated.
std::string write_answer(const Question& question, const Answer& answer, std::size_t limit);
// To a query that read_question() refuses. Empty: not even that can be answered.
std::string write_format_error(std::span<const std::uint8_t> message);

// One question of our own, for addresses.
struct Asked {
  std::uint16_t id = 0;
  std::string wire;
  std::uint16_t type = kTypeA;
};
std::string write_query(const Asked& asked);

// What a server said to it. The addresses are those of the name at the end of the chain of aliases
// that begins with the name asked for; `alias` is that end where it was given no address, empty
// without a chain.
struct Reply {
  Answer answer;
  bool truncated = false;  // and then nothing else holds
  std::string alias;
};
// nullopt: malformed, or no reply to this question.
std::optional<Reply> read_reply(std::span<const std::uint8_t> message, const Asked& asked);

}  // namespace aasm::backend_native::dns
