#include "aasm/planner/endpoint.h"

#include <algorithm>

#include <arpa/inet.h>

#include "aasm/schema/utf8.h"

#include "shapes.h"

namespace aasm::planner {
namespace {

using schema::Error;
using schema::ErrorCode;
using schema::Result;

Error bad(std::string_view text, const char* why) {
  return Error(ErrorCode::kMalformed,
               "`" + schema::escape_for_display(text.substr(0, 80)) + "` " + why);
}

bool bit_of(const AddressRange& range, int index) {
  const auto byte = static_cast<std::size_t>(index / 8);
  return ((range.bytes.at(byte) >> (7 - index % 8)) & 1U) != 0;
}

void clear_bit(AddressRange& range, int index) {
  const auto byte = static_cast<std::size_t>(index / 8);
  range.bytes.at(byte) &= static_cast<std::uint8_t>(~(1U << (7 - index % 8)));
}

Result<AddressRange> parse_range(std::string_view text) {
  const std::size_t slash = text.rfind('/');
  std::optional<AddressRange> range = schema::parse_address(text.substr(0, slash));
  if (!range) {
    return bad(text, "is no range of addresses; write it like 10.0.0.0/8");
  }
  const std::optional<int> bits =
      schema::parse_plain_decimal(text.substr(slash + 1), range->width());
  if (!bits) {
    return bad(text, "has no length of a range after its slash");
  }
  range->bits = *bits;
  for (int i = *bits; i < range->width(); ++i) {
    if (bit_of(*range, i)) {
      return bad(text, "has bits set that its length leaves out; write the first address");
    }
  }
  return schema::without_mapping(*range);
}

// inet_aton(3) and the C library read these as addresses; no name of the network looks like one.
bool ends_in_a_number(std::string_view name) {
  const std::string_view last = name.substr(name.rfind('.') + 1);
  const bool digits =
      std::all_of(last.begin(), last.end(), [](char c) { return c >= '0' && c <= '9'; });
  return digits || last.substr(0, 2) == "0x";
}

Result<Endpoint> parse_host(const std::string& host) {
  Endpoint one;
  if (host == "*") {
    return one;
  }
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (const auto address =
          schema::parse_address(bracketed ? host.substr(1, host.size() - 2) : host)) {
    one.kind = HostKind::kRange;
    one.range = schema::without_mapping(*address);
    return one;
  }
  if (host.find('/') != std::string::npos) {
    one.kind = HostKind::kRange;
    one.range = AASM_TRY(parse_range(host));
    return one;
  }
  const std::string name = AASM_TRY(host_name_pattern(host));
  one.kind = name.substr(0, 2) == "*." ? HostKind::kSuffix : HostKind::kName;
  one.name = one.kind == HostKind::kSuffix ? name.substr(2) : name;
  if (ends_in_a_number(one.name)) {
    return bad(host, "is neither a name nor an address in its usual form");
  }
  return one;
}

bool name_below(std::string_view name, std::string_view suffix) {
  return name.size() > suffix.size() + 1 && name.ends_with(suffix) &&
         name[name.size() - suffix.size() - 1] == '.';
}

bool host_contains(const Endpoint& outer, const Endpoint& inner) {
  switch (outer.kind) {
    case HostKind::kAny:
      return true;
    case HostKind::kName:
      return inner.kind == HostKind::kName && inner.name == outer.name;
    case HostKind::kSuffix:
      return (inner.kind == HostKind::kSuffix && inner.name == outer.name) ||
             ((inner.kind == HostKind::kName || inner.kind == HostKind::kSuffix) &&
              name_below(inner.name, outer.name));
    case HostKind::kRange:
      return inner.kind == HostKind::kRange && schema::range_contains(outer.range, inner.range);
  }
  return false;
}

// Halves `range` until each piece is in one of `all`. Goes on only where one of them lies inside,
// so that there are at most as many steps as bits for each of them.
bool range_covered(const AddressRange& range, const std::vector<AddressRange>& all) {
  std::vector<AddressRange> inside;
  for (const AddressRange& one : all) {
    if (schema::range_contains(one, range)) {
      return true;
    }
    if (schema::range_contains(range, one)) {
      inside.push_back(one);
    }
  }
  if (inside.empty()) {
    return false;
  }
  AddressRange half = range;
  half.bits = range.bits + 1;
  clear_bit(half, range.bits);
  AddressRange other = half;
  other.bytes.at(static_cast<std::size_t>(range.bits / 8)) |=
      static_cast<std::uint8_t>(1U << (7 - range.bits % 8));
  return range_covered(half, inside) && range_covered(other, inside);
}

std::string host_text(const Endpoint& one) {
  switch (one.kind) {
    case HostKind::kAny:
      return "*";
    case HostKind::kName:
      return one.name;
    case HostKind::kSuffix:
      return "*." + one.name;
    case HostKind::kRange:
      break;
  }
  std::array<char, INET6_ADDRSTRLEN> buffer{};
  ::inet_ntop(one.range.v6 ? AF_INET6 : AF_INET, one.range.bytes.data(), buffer.data(),
              buffer.size());
  const std::string address = buffer.data();
  if (one.range.bits < one.range.width()) {
    return address + "/" + std::to_string(one.range.bits);
  }
  return one.range.v6 ? "[" + address + "]" : address;
}

bool port_and_protocol_contain(const Endpoint& outer, const Endpoint& inner) {
  return (outer.port == 0 || outer.port == inner.port) &&
         (outer.protocol.empty() || outer.protocol == inner.protocol);
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return result;
}

// Cuts ":port" off the end of `text`, but not a colon inside brackets.
Result<std::uint32_t> take_port(std::string& text) {
  const std::size_t colon = text.rfind(':');
  const std::size_t bracket = text.rfind(']');
  if (colon == std::string::npos || (bracket != std::string::npos && colon < bracket)) {
    return std::uint32_t{0};
  }
  const std::optional<int> port =
      schema::parse_plain_decimal(std::string_view(text).substr(colon + 1), 65535);
  if (!port || *port == 0) {
    return bad(text, "has no port from 1 to 65535 after its colon");
  }
  text.resize(colon);
  return static_cast<std::uint32_t>(*port);
}

}  // namespace

Result<Endpoint> parse_host_endpoint(std::string_view text) {
  std::string host = lower(text);
  const std::uint32_t port = AASM_TRY(take_port(host));
  if (host.find('/') != std::string::npos) {
    return bad(text, "is a range of addresses, which is no host pattern");
  }
  Endpoint one = AASM_TRY(parse_host(host));
  one.port = port;
  return one;
}

Result<Endpoint> parse_range_endpoint(std::string_view text) {
  std::string host = lower(text);
  const std::size_t slash = host.rfind('/');
  const std::string protocol = slash == std::string::npos ? "" : host.substr(slash + 1);
  if (protocol != "tcp" && protocol != "udp") {
    return bad(text, "does not end in /tcp or /udp");
  }
  host.resize(slash);
  const std::uint32_t port = AASM_TRY(take_port(host));
  if (port == 0) {
    return bad(text, "names no port");
  }
  Endpoint one = AASM_TRY(parse_host(host));
  one.port = port;
  one.protocol = protocol;
  return one;
}

std::string host_endpoint_text(const Endpoint& one) {
  return host_text(one) + (one.port == 0 ? "" : ":" + std::to_string(one.port));
}

std::string range_endpoint_text(const Endpoint& one) {
  return host_endpoint_text(one) + "/" + one.protocol;
}

bool endpoint_contains(const Endpoint& outer, const Endpoint& inner) {
  return port_and_protocol_contain(outer, inner) && host_contains(outer, inner);
}

bool endpoint_covered(const Endpoint& one, const std::vector<Endpoint>& all) {
  std::vector<AddressRange> ranges;
  for (const Endpoint& other : all) {
    if (!port_and_protocol_contain(other, one)) {
      continue;
    }
    if (host_contains(other, one)) {
      return true;
    }
    if (other.kind == HostKind::kRange) {
      ranges.push_back(other.range);
    }
  }
  return one.kind == HostKind::kRange && range_covered(one.range, ranges);
}

std::optional<Endpoint> endpoint_intersection(const Endpoint& a, const Endpoint& b) {
  const bool port = a.port == 0 || b.port == 0 || a.port == b.port;
  const bool protocol = a.protocol.empty() || b.protocol.empty() || a.protocol == b.protocol;
  if (!port || !protocol || !(host_contains(a, b) || host_contains(b, a))) {
    return std::nullopt;
  }
  Endpoint both = host_contains(a, b) ? b : a;
  both.port = std::max(a.port, b.port);
  both.protocol = a.protocol.empty() ? b.protocol : a.protocol;
  return both;
}

}  // namespace aasm::planner
