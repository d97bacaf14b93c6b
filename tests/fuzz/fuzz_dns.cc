#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include "dns_message.h"
#include "dns_name.h"

// The first byte chooses who reads the rest: the resolver, to which a workload sends it, or the
// lookup, to which a name server does. Whatever it is: a question that was read is sent back as it
// came, an answer to it fits its limit and is a reply to it, and names read are names.
namespace {

using namespace aasm::backend_native;

void require(bool condition) {
  if (!condition) {
    std::abort();
  }
}

std::span<const std::uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

void check_name(const std::string& wire) {
  require(!wire.empty() && wire.size() <= dns::kMaxNameBytes && wire.back() == '\0');
  const std::optional<dns::Name> again = dns::read_name(bytes_of(wire), 0, dns::Pointers::kRefused);
  require(again && again->wire == wire && again->end == wire.size());
  const std::string text = dns::name_text(wire);
  require(!text.empty());
  const std::optional<std::string> back = dns::name_wire(text);
  require(text.find('\\') != std::string::npos || text == "." ||
          (back && dns::same_name(*back, wire)));
}

void check_question(std::span<const std::uint8_t> message) {
  const std::optional<dns::Question> question = dns::read_question(message);
  if (!question) {
    require(dns::write_format_error(message).size() <= dns::kHeaderBytes);
    return;
  }
  check_name(question->wire);
  dns::Answer answer;
  answer.ttl = 60;
  for (std::uint8_t i = 0; i < 30; ++i) {
    answer.addresses.push_back({question->type == dns::kTypeAaaa, {93, 184, 216, i}, 0});
  }
  const dns::Asked asked{question->id, question->wire, question->type};
  for (const std::size_t limit : {dns::kPlainLimit, dns::kLargestUdp}) {
    const std::string sent = dns::write_answer(*question, answer, limit);
    require(sent.size() <= limit);
    const std::optional<dns::Reply> reply = dns::read_reply(bytes_of(sent), asked);
    require(reply.has_value() == (question->opcode == 0 && question->record_class == 1));
  }
}

void check_reply(std::span<const std::uint8_t> message) {
  for (const std::uint16_t type : {dns::kTypeA, dns::kTypeAaaa}) {
    const dns::Asked asked{0x1234, *dns::name_wire("a.example"), type};
    const std::optional<dns::Reply> reply = dns::read_reply(message, asked);
    if (!reply) {
      continue;
    }
    require(reply->answer.addresses.size() <= dns::kMaxAddresses);
    for (const InternetAddress& address : reply->answer.addresses) {
      require(address.v6 == (type == dns::kTypeAaaa));
    }
    if (!reply->alias.empty()) {
      check_name(reply->alias);
      require(reply->answer.addresses.empty());
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  const std::span<const std::uint8_t> rest(data + 1, size - 1);
  if (data[0] % 2 == 0) {
    check_question(rest);
  } else {
    check_reply(rest);
  }
  return 0;
}
