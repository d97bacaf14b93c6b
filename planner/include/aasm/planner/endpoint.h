#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aasm/schema/address_range.h"
#include "aasm/schema/result.h"
#include "aasm/schema/vocabulary.h"

// Hosts, address ranges and ports of a policy as sets.
namespace aasm::planner {

using schema::AddressRange;  // of a policy: the bits that do not count are zero

enum class HostKind : std::uint8_t { kAny, kSuffix, kName, kRange };

struct Endpoint {
  HostKind kind = HostKind::kAny;
  std::string name;  // kName; kSuffix: "example.org", without "*."
  AddressRange range;
  std::uint32_t port = 0;  // 0: every port
  std::string protocol;    // tcp, udp; empty: every protocol
};

// "api.example.com:443", "*.example.org", "[::1]:80": a host pattern, with its port or without. TCP
// is what it is used for, but it is not part of the pattern.
schema::Result<Endpoint> parse_host_endpoint(std::string_view text);
// "10.0.0.0/8:5432/tcp"
schema::Result<Endpoint> parse_range_endpoint(std::string_view text);

// The one form of the two above.
std::string host_endpoint_text(const Endpoint& one);
std::string range_endpoint_text(const Endpoint& one);

bool endpoint_contains(const Endpoint& outer, const Endpoint& inner);
bool endpoint_covered(const Endpoint& one, const std::vector<Endpoint>& all);
std::optional<Endpoint> endpoint_intersection(const Endpoint& a, const Endpoint& b);

}  // namespace aasm::planner
