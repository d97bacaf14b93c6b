#include "aasm/schema/record_activity.h"

#include <algorithm>

namespace aasm::schema {
namespace {

constexpr std::int64_t kMaxPort = 65535;

Error invalid(const char* what) {
  return Error(ErrorCode::kMalformed, what);
}

}  // namespace

Result<void> EventObject::check() const {
  if ((type == ObjectType::kSyscall) != number.has_value()) {
    return invalid("a system call, and nothing else, has a number");
  }
  if ((type == ObjectType::kPath) != path.has_value()) {
    return invalid("a path object, and nothing else, has a path");
  }
  const bool describes_file = given_path || new_path || device || inode;
  if (describes_file && type != ObjectType::kPath) {
    return invalid("a path object, and nothing else, has a second path, a device or an inode");
  }
  if (device.has_value() != inode.has_value()) {
    return invalid("a device without an inode says nothing, nor does an inode without a device");
  }
  if (type == ObjectType::kUnlisted && !(name.empty() && arch.empty())) {
    return invalid("an unlisted object has neither name nor architecture");
  }
  const bool is_address = type == ObjectType::kAddress;
  if (is_address != address.has_value() || is_address != port.has_value() ||
      is_address != protocol.has_value() || is_address != address_class.has_value()) {
    return invalid("an address, and nothing else, has an address, port, protocol and class");
  }
  if (is_address && (address->empty() || protocol->empty() || *port < 0 || *port > kMaxPort)) {
    return invalid("an address that cannot be");
  }
  if ((query && type != ObjectType::kName) || (answers && !query)) {
    return invalid("a name, and nothing else, is asked for and answered");
  }
  const bool empty = answers && std::any_of(answers->begin(), answers->end(),
                                            [](const std::string& one) { return one.empty(); });
  if ((query && query->empty()) || empty) {
    return invalid("an empty question or answer");
  }
  return {};
}

Result<void> Event::check() const {
  if (number < 1 || count < 1 || pids < 1) {
    return invalid("events, actions and processes count from 1");
  }
  if (pids > count) {
    return invalid("more processes than actions");
  }
  if (parents_truncated.value_or(false) && parents.empty()) {
    return invalid("a list of parents that was cut holds those before the cut");
  }
  if (operation.empty() || mechanism.empty()) {
    return invalid("an event names its operation and mechanism");
  }
  if (rule.empty() && cause != DecisionCause::kFault) {
    return invalid("a decision cites a rule");
  }
  return {};
}

Result<void> EventBatch::check() const {
  if (first < 1 || dropped < 0) {
    return invalid("batch counts that cannot be");
  }
  if (events.size() > kBatchMaxEvents) {
    return Error(ErrorCode::kResourceExhausted, "more than 512 events in one batch");
  }
  std::int64_t expected = first;
  for (const Event& event : events) {
    if (event.number != expected) {
      return invalid("event numbers are not contiguous");
    }
    ++expected;
  }
  return {};
}

}  // namespace aasm::schema
