#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>

#include "network_judge.h"

// Requirements and socket addresses in one line each.
namespace aasm::backend_native::testing {

inline constexpr SocketFacts kTcp4{AF_INET, SOCK_STREAM, IPPROTO_TCP};
inline constexpr SocketFacts kTcp6{AF_INET6, SOCK_STREAM, IPPROTO_TCP};
inline constexpr SocketFacts kUdp4{AF_INET, SOCK_DGRAM, IPPROTO_UDP};
inline constexpr SocketFacts kUdp6{AF_INET6, SOCK_DGRAM, IPPROTO_UDP};

using Bytes = std::vector<std::uint8_t>;

template <class T>
Bytes bytes_of(const T& address) {
  Bytes bytes(sizeof address);
  std::memcpy(bytes.data(), &address, sizeof address);
  return bytes;
}

inline Bytes v4(const char* text, std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  ::inet_pton(AF_INET, text, &address.sin_addr);
  return bytes_of(address);
}

inline Bytes v6(const char* text, std::uint16_t port) {
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_port = htons(port);
  ::inet_pton(AF_INET6, text, &address.sin6_addr);
  return bytes_of(address);
}

inline Bytes with_family(Bytes bytes, sa_family_t family) {
  std::memcpy(bytes.data(), &family, sizeof family);
  return bytes;
}

inline Bytes cut(Bytes bytes, std::size_t length) {
  bytes.resize(length);
  return bytes;
}

inline schema::PolicyRule net_rule(std::string id, schema::RuleEffect effect, std::string operation,
                                   schema::SelectorType type, std::string value) {
  schema::PolicyRule rule;
  rule.id = std::move(id);
  rule.effect = effect;
  rule.operation = std::move(operation);
  rule.selector = {type, schema::PathBytes(std::move(value))};
  return rule;
}
inline schema::PolicyRule range(std::string id, std::string value,
                                schema::RuleEffect effect = schema::RuleEffect::kAllow) {
  return net_rule(std::move(id), effect, "connect", schema::SelectorType::kAddressRange,
                  std::move(value));
}
inline schema::PolicyRule host(std::string id, std::string value) {
  return net_rule(std::move(id), schema::RuleEffect::kAllow, "connect",
                  schema::SelectorType::kHostPattern, std::move(value));
}
inline schema::PolicyRule bind_to(std::string id, std::string value) {
  return net_rule(std::move(id), schema::RuleEffect::kAllow, "bind", schema::SelectorType::kPort,
                  std::move(value));
}
inline schema::PolicyRule whole(std::string id, std::string operation,
                                schema::RuleEffect effect = schema::RuleEffect::kAllow) {
  return net_rule(std::move(id), effect, std::move(operation), schema::SelectorType::kWhole, "");
}

inline schema::Requirement egress(std::initializer_list<schema::PolicyRule> rules) {
  schema::Requirement made;
  made.domain = schema::Domain::kNetworkEgress;
  made.default_rule = "network.allowlist";
  made.rules = rules;
  return made;
}
inline schema::Requirement no_names() {
  schema::Requirement made;
  made.domain = schema::Domain::kNameResolution;
  made.default_rule = "name_resolution.allow";
  return made;
}

inline schema::Requirement names(std::initializer_list<const char*> patterns) {
  schema::Requirement made = no_names();
  for (const char* pattern : patterns) {
    made.rules.push_back(net_rule("n" + std::to_string(made.rules.size()),
                                  schema::RuleEffect::kAllow, "resolve",
                                  schema::SelectorType::kHostPattern, pattern));
  }
  return made;
}

inline NetworkSpec spec_of(const schema::Requirement& requirement) {
  return make_network_spec(&requirement, nullptr).value();
}

}  // namespace aasm::backend_native::testing
