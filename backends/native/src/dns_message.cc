#include "dns_message.h"

#include <algorithm>

#include "dns_name.h"

namespace aasm::backend_native::dns {
namespace {

using Bytes = std::span<const std::uint8_t>;

constexpr std::uint16_t kTypeAlias = 5;  // CNAME
constexpr std::uint16_t kTypeOpt = 41;
constexpr std::uint16_t kClassInternet = 1;
constexpr std::uint16_t kResponse = 0x8000;
constexpr std::uint16_t kTruncated = 0x0200;
constexpr std::uint16_t kRecursionDesired = 0x0100;
constexpr std::uint16_t kRecursionAvailable = 0x0080;
constexpr std::uint16_t kRcodeBits = 0x000F;
constexpr std::size_t kMaxAliases = 16;
constexpr std::uint16_t kExtendedError = 15;  // RFC 8914, the option and "Blocked"
constexpr std::uint16_t kBlocked = 15;

std::uint16_t word_at(Bytes message, std::size_t at) {
  return static_cast<std::uint16_t>(message[at] << 8U | message[at + 1]);
}

std::uint32_t long_at(Bytes message, std::size_t at) {
  return static_cast<std::uint32_t>(word_at(message, at)) << 16U | word_at(message, at + 2);
}

void put_word(std::string& message, std::size_t value) {
  message += static_cast<char>(value >> 8U & 0xFFU);
  message += static_cast<char>(value & 0xFFU);
}

void put_long(std::string& message, std::uint32_t value) {
  put_word(message, value >> 16U);
  put_word(message, value & 0xFFFFU);
}

struct Record {
  std::string owner;
  std::uint16_t type = 0;
  std::uint16_t record_class = 0;  // of EDNS: the payload
  std::uint32_t ttl = 0;
  std::size_t data = 0;  // offset
  std::size_t size = 0;
  std::size_t end = 0;
};

std::optional<Record> read_record(Bytes message, std::size_t at) {
  constexpr std::size_t kFixed = 10;
  std::optional<Name> owner = read_name(message, at, Pointers::kFollowed);
  if (!owner || owner->end + kFixed > message.size()) {
    return std::nullopt;
  }
  Record record;
  at = owner->end;
  record.owner = std::move(owner->wire);
  record.type = word_at(message, at);
  record.record_class = word_at(message, at + 2);
  record.ttl = long_at(message, at + 4);
  record.size = word_at(message, at + 8);
  record.data = at + kFixed;
  record.end = record.data + record.size;
  return record.end <= message.size() ? std::optional(std::move(record)) : std::nullopt;
}

// The single question; `end` is behind it.
std::optional<Question> read_asked(Bytes message, std::size_t* end) {
  std::optional<Name> name = read_name(message, kHeaderBytes, Pointers::kRefused);
  if (!name || name->end + 4 > message.size()) {
    return std::nullopt;
  }
  Question question;
  question.id = word_at(message, 0);
  question.recursion_desired = (word_at(message, 2) & kRecursionDesired) != 0;
  question.opcode = static_cast<std::uint8_t>(word_at(message, 2) >> 11U & 0xFU);
  question.wire = std::move(name->wire);
  question.type = word_at(message, name->end);
  question.record_class = word_at(message, name->end + 2);
  *end = name->end + 4;
  return question;
}

bool take_edns(Bytes message, std::size_t at, Question& question) {
  const std::optional<Record> record = read_record(message, at);
  if (!record || record->type != kTypeOpt || record->owner.size() != 1 ||
      record->end != message.size()) {
    return false;
  }
  question.edns = true;
  question.payload = record->record_class;
  question.edns_version = static_cast<std::uint8_t>(record->ttl >> 16U & 0xFFU);
  return true;
}

void put_edns(std::string& message, const Answer& answer) {
  message += '\0';
  put_word(message, kTypeOpt);
  put_word(message, kLargestUdp);
  put_long(message, static_cast<std::uint32_t>(answer.rcode) >> 4U << 24U);
  put_word(message, answer.blocked ? 6 : 0);
  if (answer.blocked) {
    put_word(message, kExtendedError);
    put_word(message, 2);
    put_word(message, kBlocked);
  }
}

std::string answer_without(const Question& question, const Answer& answer, std::uint16_t flags,
                           std::size_t num_addresses) {
  std::string message;
  put_word(message, question.id);
  put_word(message, kResponse | kRecursionAvailable | flags |
                        static_cast<unsigned>(question.opcode) << 11U |
                        (question.recursion_desired ? kRecursionDesired : 0U) |
                        (static_cast<unsigned>(answer.rcode) & kRcodeBits));
  put_word(message, 1);
  put_word(message, num_addresses);
  put_word(message, 0);
  put_word(message, question.edns ? 1 : 0);
  message += question.wire;
  put_word(message, question.type);
  put_word(message, question.record_class);
  return message;
}

// The end of the chain, and the least lifetime on the way.
std::string follow_aliases(Bytes message, const std::vector<Record>& records,
                           const std::string& first, std::uint32_t* ttl) {
  std::string at = first;
  for (std::size_t step = 0; step < kMaxAliases; ++step) {
    const auto alias = std::find_if(records.begin(), records.end(), [&](const Record& record) {
      return record.type == kTypeAlias && same_name(record.owner, at);
    });
    if (alias == records.end()) {
      return at;
    }
    const std::optional<Name> target = read_name(message, alias->data, Pointers::kFollowed);
    if (!target || target->end != alias->end) {
      return {};
    }
    *ttl = std::min(*ttl, alias->ttl);
    at = target->wire;
  }
  return {};
}

std::optional<std::vector<Record>> read_answers(Bytes message, std::size_t at) {
  std::vector<Record> records;
  const std::uint16_t count = word_at(message, 6);
  for (std::uint16_t i = 0; i < count; ++i) {
    std::optional<Record> record = read_record(message, at);
    if (!record) {
      return std::nullopt;
    }
    at = record->end;
    if (record->record_class == kClassInternet) {
      record->ttl = record->ttl > INT32_MAX ? 0 : record->ttl;  // RFC 2181 section 8
      records.push_back(std::move(*record));
    }
  }
  return records;
}

}  // namespace

std::optional<Question> read_question(Bytes message) {
  if (message.size() < kHeaderBytes || (word_at(message, 2) & (kResponse | kTruncated)) != 0 ||
      word_at(message, 4) != 1 || word_at(message, 6) != 0 || word_at(message, 8) != 0 ||
      word_at(message, 10) > 1) {
    return std::nullopt;
  }
  std::size_t end = 0;
  std::optional<Question> question = read_asked(message, &end);
  const bool edns = word_at(message, 10) == 1;
  if (!question || (edns ? !take_edns(message, end, *question) : end != message.size())) {
    return std::nullopt;
  }
  return question;
}

std::string write_answer(const Question& question, const Answer& answer, std::size_t limit) {
  std::string message = answer_without(question, answer, 0, answer.addresses.size());
  for (const InternetAddress& address : answer.addresses) {
    const std::size_t size = address.v6 ? 16 : 4;
    put_word(message, 0xC000U | kHeaderBytes);  // the name of the question
    put_word(message, address.v6 ? kTypeAaaa : kTypeA);
    put_word(message, kClassInternet);
    put_long(message, answer.ttl);
    put_word(message, size);
    message.append(reinterpret_cast<const char*>(address.bytes.data()), size);
  }
  if (question.edns) {
    put_edns(message, answer);
  }
  if (message.size() > limit) {
    message = answer_without(question, answer, kTruncated, 0);
    if (question.edns) {
      put_edns(message, answer);
    }
  }
  return message;
}

std::string write_format_error(Bytes message) {
  if (message.size() < kHeaderBytes || (word_at(message, 2) & kResponse) != 0) {
    return {};
  }
  std::string reply;
  put_word(reply, word_at(message, 0));
  put_word(reply, kResponse | static_cast<unsigned>(Rcode::kFormatError));
  reply.resize(kHeaderBytes, '\0');
  return reply;
}

std::string write_query(const Asked& asked) {
  std::string message;
  put_word(message, asked.id);
  put_word(message, kRecursionDesired);
  put_word(message, 1);
  message.resize(kHeaderBytes, '\0');
  message += asked.wire;
  put_word(message, asked.type);
  put_word(message, kClassInternet);
  return message;
}

std::optional<Reply> read_reply(Bytes message, const Asked& asked) {
  if (message.size() < kHeaderBytes || (word_at(message, 2) & kResponse) == 0 ||
      word_at(message, 0) != asked.id || word_at(message, 4) != 1) {
    return std::nullopt;
  }
  std::size_t end = 0;
  const std::optional<Question> echoed = read_asked(message, &end);
  if (!echoed || echoed->opcode != 0 || !same_name(echoed->wire, asked.wire) ||
      echoed->type != asked.type || echoed->record_class != kClassInternet) {
    return std::nullopt;
  }
  Reply reply;
  reply.answer.rcode = static_cast<Rcode>(word_at(message, 2) & kRcodeBits);
  reply.truncated = (word_at(message, 2) & kTruncated) != 0;
  if (reply.truncated || reply.answer.rcode != Rcode::kNoError) {
    return reply;
  }
  const std::optional<std::vector<Record>> records = read_answers(message, end);
  std::uint32_t ttl = INT32_MAX;
  const std::string last = records ? follow_aliases(message, *records, asked.wire, &ttl) : "";
  if (last.empty()) {
    return std::nullopt;
  }
  const bool v6 = asked.type == kTypeAaaa;
  for (const Record& record : *records) {
    if (record.type == asked.type && record.size == (v6 ? 16U : 4U) &&
        same_name(record.owner, last) && reply.answer.addresses.size() < kMaxAddresses) {
      InternetAddress address;
      address.v6 = v6;
      std::copy_n(message.begin() + static_cast<std::ptrdiff_t>(record.data), record.size,
                  address.bytes.begin());
      reply.answer.addresses.push_back(address);
      ttl = std::min(ttl, record.ttl);
    }
  }
  reply.answer.ttl = ttl == INT32_MAX ? 0 : ttl;
  if (reply.answer.addresses.empty() && !same_name(last, asked.wire)) {
    reply.alias = last;
  }
  return reply;
}

}  // namespace aasm::backend_native::dns
