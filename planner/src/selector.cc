#include "aasm/planner/selector.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <utility>

#include "aasm/planner/endpoint.h"
#include "aasm/planner/paths.h"
#include "aasm/schema/utf8.h"

#include "shapes.h"

namespace aasm::planner {
namespace {

using schema::Error;
using schema::ErrorCode;
using schema::Result;
using schema::Selector;
using schema::SelectorType;

bool is_endpoint(SelectorType type) {
  return type == SelectorType::kHostPattern || type == SelectorType::kAddressRange ||
         type == SelectorType::kPort;
}

// nullopt for a text that is none, which then stands for itself alone.
std::optional<Endpoint> endpoint_of(const Selector& selector) {
  const std::string& text = selector.value.bytes();
  Result<Endpoint> parsed = selector.type == SelectorType::kAddressRange
                                ? parse_range_endpoint(text)
                                : parse_host_endpoint(text);
  if (!parsed) {
    return std::nullopt;
  }
  if (selector.type == SelectorType::kHostPattern && parsed->port != 0) {
    parsed->protocol = "tcp";
  }
  return *parsed;
}

Selector selector_of(SelectorType type, std::string text) {
  return {type, schema::PathBytes(std::move(text))};
}

std::set<std::string> calls_of(const Selector& selector, const GroupMembers& groups) {
  const std::string& value = selector.value.bytes();
  if (value.starts_with('@') && groups) {
    const std::vector<std::string> members = groups(value);
    if (!members.empty()) {
      return {members.begin(), members.end()};
    }
  }
  return {value};
}

std::optional<std::uint64_t> limit_of(const Selector& selector) {
  const std::string& text = selector.value.bytes();
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, fault] = std::from_chars(text.data(), end, value);
  const bool plain = fault == std::errc() && stop == end && std::to_string(value) == text;
  return plain ? std::optional<std::uint64_t>(value) : std::nullopt;
}

// Selectors of types that can stand for the same object.
bool comparable(const Selector& a, const Selector& b) {
  return a.type == b.type || (is_endpoint(a.type) && is_endpoint(b.type));
}

bool calls_in(const Selector& one, const std::vector<Selector>& all, const GroupMembers& groups) {
  std::set<std::string> missing = calls_of(one, groups);
  for (const Selector& other : all) {
    for (const std::string& name : calls_of(other, groups)) {
      missing.erase(name);
    }
  }
  return missing.empty();
}

bool endpoint_in(const Selector& one, const std::vector<Selector>& all) {
  std::vector<Endpoint> endpoints;
  for (const Selector& other : all) {
    if (const std::optional<Endpoint> endpoint = endpoint_of(other)) {
      endpoints.push_back(*endpoint);
    }
  }
  const std::optional<Endpoint> endpoint = endpoint_of(one);
  return endpoint && endpoint_covered(*endpoint, endpoints);
}

bool within_limit(const Selector& one, const Selector& other) {
  const std::optional<std::uint64_t> lower = limit_of(one);
  const std::optional<std::uint64_t> upper = limit_of(other);
  return one.type == SelectorType::kLimit && lower && upper && *lower <= *upper;
}

std::vector<Selector> common_calls(const Selector& a, const Selector& b,
                                   const GroupMembers& groups) {
  const std::set<std::string> first = calls_of(a, groups);
  const std::set<std::string> second = calls_of(b, groups);
  std::vector<Selector> common;
  for (const std::string& name : first) {
    if (second.count(name) != 0) {
      common.push_back(selector_of(SelectorType::kSyscall, name));
    }
  }
  return common;
}

std::vector<Selector> common_endpoint(const Selector& a, const Selector& b) {
  const std::optional<Endpoint> first = endpoint_of(a);
  const std::optional<Endpoint> second = endpoint_of(b);
  const std::optional<Endpoint> both =
      first && second ? endpoint_intersection(*first, *second) : std::nullopt;
  if (!both) {
    return {};
  }
  const bool range = a.type == SelectorType::kAddressRange || b.type == SelectorType::kAddressRange;
  // A range says its protocol; without one it could be said by neither.
  if (range && !both->protocol.empty()) {
    return {selector_of(SelectorType::kAddressRange, range_endpoint_text(*both))};
  }
  const SelectorType type = a.type == SelectorType::kAddressRange ? b.type : a.type;
  return {selector_of(type, host_endpoint_text(*both))};
}

Result<std::string> canonical_limit(std::string_view text) {
  const bool word = !text.empty() && std::all_of(text.begin(), text.end(),
                                                 [](char c) { return c >= 'a' && c <= 'z'; });
  if (!word && !limit_of(selector_of(SelectorType::kLimit, std::string(text)))) {
    return Error(ErrorCode::kMalformed,
                 "`" + schema::escape_for_display(text.substr(0, 80)) + "` is no limit");
  }
  return std::string(text);
}

Result<std::string> canonical(SelectorType type, const std::string& text) {
  switch (type) {
    case SelectorType::kPathPrefix:
    case SelectorType::kSocketPath:
      return normalised_path(text);
    case SelectorType::kSyscall:
      return syscall_name(text, nullptr);
    case SelectorType::kEnvironmentName:
      return environment_name(text);
    case SelectorType::kHostPattern:
      return host_endpoint_text(AASM_TRY(parse_host_endpoint(text)));
    case SelectorType::kAddressRange:
      return range_endpoint_text(AASM_TRY(parse_range_endpoint(text)));
    case SelectorType::kPort: {
      const Endpoint one = AASM_TRY(parse_host_endpoint(text));
      if (one.port == 0) {
        return address_and_port(text);  // says what is missing
      }
      return host_endpoint_text(one);
    }
    case SelectorType::kDescriptor:
    case SelectorType::kLimit:
      return canonical_limit(text);
    case SelectorType::kWhole:
      break;
  }
  return text.empty() ? Result<std::string>(text)
                      : Error(ErrorCode::kMalformed, "the whole of a domain has no value");
}

}  // namespace

Result<Selector> make_selector(SelectorType type, std::string_view text) {
  return selector_of(type, AASM_TRY(canonical(type, std::string(text))));
}

bool contains(const Selector& outer, const Selector& inner, const GroupMembers& groups) {
  return covered_by(inner, {outer}, groups);
}

bool covered_by(const Selector& one, const std::vector<Selector>& all, const GroupMembers& groups) {
  std::vector<Selector> others;
  for (const Selector& other : all) {
    if (other.type == SelectorType::kWhole || other == one) {
      return true;
    }
    if (comparable(other, one)) {
      others.push_back(other);
    }
  }
  if (is_endpoint(one.type)) {
    return endpoint_in(one, others);
  }
  if (one.type == SelectorType::kSyscall) {
    return calls_in(one, others, groups);
  }
  return std::any_of(others.begin(), others.end(), [&](const Selector& other) {
    const bool path = one.type == SelectorType::kPathPrefix;
    return path ? path_covers(other.value.bytes(), one.value.bytes()) : within_limit(one, other);
  });
}

std::vector<Selector> intersect(const Selector& a, const Selector& b, const GroupMembers& groups) {
  if (a.type == SelectorType::kWhole || a == b) {
    return {b};
  }
  if (b.type == SelectorType::kWhole) {
    return {a};
  }
  if (!comparable(a, b)) {
    return {};
  }
  if (is_endpoint(a.type)) {
    return common_endpoint(a, b);
  }
  if (a.type == SelectorType::kSyscall) {
    return contains(a, b, groups)   ? std::vector<Selector>{b}
           : contains(b, a, groups) ? std::vector<Selector>{a}
                                    : common_calls(a, b, groups);
  }
  if (contains(a, b, groups)) {
    return {b};
  }
  return contains(b, a, groups) ? std::vector<Selector>{a} : std::vector<Selector>();
}

}  // namespace aasm::planner
