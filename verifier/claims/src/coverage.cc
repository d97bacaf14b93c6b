#include "coverage.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "address_coverage.h"

namespace aasm::claims {
namespace {

using schema::EventObject;
using schema::ObjectType;
using schema::SelectorType;

Coverage decided(bool covered) {
  return covered ? Coverage::kCovered : Coverage::kNotCovered;
}

bool is_resolved_path(std::string_view path) {
  if (path.empty() || path.front() != '/' || path.find('\0') != std::string_view::npos) {
    return false;
  }
  std::string_view rest = path.substr(1);
  if (rest.empty()) {
    return true;
  }
  while (true) {
    const std::size_t slash = rest.find('/');
    const std::string_view component = rest.substr(0, slash);
    if (component.empty() || component == "." || component == "..") {
      return false;
    }
    if (slash == std::string_view::npos) {
      return true;
    }
    rest.remove_prefix(slash + 1);
  }
}

bool path_below(std::string_view prefix, std::string_view path) {
  if (!is_resolved_path(prefix) || !is_resolved_path(path)) {
    return false;
  }
  if (prefix == "/" || prefix == path) {
    return true;
  }
  return path.starts_with(prefix) && path[prefix.size()] == '/';
}

std::string folded_name(std::string_view name) {
  std::string folded(name);
  std::transform(folded.begin(), folded.end(), folded.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  if (!folded.empty() && folded.back() == '.') {
    folded.pop_back();
  }
  return folded;
}

bool number_is(const EventObject& object, std::string_view decimal) {
  return object.name == decimal || (object.number && std::to_string(*object.number) == decimal);
}

Coverage covers_endpoint(const schema::Selector& selector, const EventObject& object,
                         const NameAnswers* answers) {
  if (object.type == ObjectType::kAddress) {
    return covers_address(selector, object, answers);
  }
  return decided(selector.type == SelectorType::kHostPattern && object.type == ObjectType::kName &&
                 host_matches(selector.value.bytes(), object.name));
}

// What a group (@name) holds stands in no record.
Coverage covers_call(const std::string& value, const EventObject& object) {
  if (object.type != ObjectType::kSyscall) {
    return Coverage::kNotCovered;
  }
  return value.rfind('@', 0) == 0 ? Coverage::kUndecided : decided(object.name == value);
}

}  // namespace

bool host_matches(std::string_view pattern_text, std::string_view name_text) {
  const std::string pattern = folded_name(pattern_text.substr(0, pattern_text.find(':')));
  const std::string name = folded_name(name_text);
  if (name.empty() || pattern.empty()) {
    return false;
  }
  if (pattern == "*" || pattern == name) {
    return true;
  }
  if (!pattern.starts_with("*.")) {
    return false;
  }
  const std::string_view suffix = std::string_view(pattern).substr(1);  // ".example.org"
  return name.size() > suffix.size() && name.ends_with(suffix) && name.front() != '.';
}

Coverage covers(const schema::Selector& selector, const EventObject& object,
                const NameAnswers* answers) {
  if (object.type == ObjectType::kUnlisted) {
    return Coverage::kUndecided;
  }
  const std::string& value = selector.value.bytes();
  switch (selector.type) {
    case SelectorType::kWhole:
      return Coverage::kCovered;
    case SelectorType::kPathPrefix:
      return decided(object.type == ObjectType::kPath && object.path &&
                     path_below(value, object.path->bytes()));
    case SelectorType::kSyscall:
      return covers_call(value, object);
    case SelectorType::kEnvironmentName:
      return decided(object.type == ObjectType::kName && object.name == value);
    case SelectorType::kDescriptor:
      return decided(number_is(object, value));
    case SelectorType::kHostPattern:
    case SelectorType::kAddressRange:
    case SelectorType::kPort:
      return covers_endpoint(selector, object, answers);
    case SelectorType::kSocketPath:
      return decided(object.type == ObjectType::kSocket && object.name == value);
    case SelectorType::kLimit:
      return Coverage::kUndecided;
  }
  return Coverage::kUndecided;
}

}  // namespace aasm::claims
