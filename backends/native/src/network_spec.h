#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "aasm/planner/endpoint.h"
#include "aasm/schema/record_policy.h"
#include "aasm/schema/result.h"

#include "name_grants.h"
#include "network_address.h"

// The requirements on network_egress and name_resolution in the form in which calls are judged.
namespace aasm::backend_native {

struct NetworkRule {
  std::string id;
  schema::RuleEffect effect = schema::RuleEffect::kAllow;
  bool bind = false;   // else connect, which sending to an address is too
  bool whole = false;  // every address; `endpoint` is then not looked at
  planner::Endpoint endpoint;
};

// A unix socket by which names are looked up, as it was found; links and bind mounts of it too.
struct ResolverSocket {
  std::string path;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
};

// Of a name that is looked up.
struct NameRule {
  std::string id;
  schema::RuleEffect effect = schema::RuleEffect::kAllow;
  planner::Endpoint pattern;  // kAny, kSuffix or kName
};

// Where the supervisor's resolver takes questions, on loopback. A port of 0: not there.
struct Responder {
  std::uint16_t v4_port = 0;
  std::uint16_t v6_port = 0;
};

struct NetworkSpec {
  bool egress_stated = false;
  bool kill_on_denial = false;  // of network_egress
  std::string egress_default;
  std::vector<NetworkRule> rules;
  bool names_stated = false;
  std::string names_default;
  std::vector<NameRule> name_rules;
  std::vector<ResolverSocket> resolvers;  // the caller's to fill in, by resolver_paths()

  // Names that policy does not allow are looked up all the same (observing.h).
  bool observes_names = false;

  // Set where a run answers lookups (resolver.h).
  Responder responder;
  std::shared_ptr<const NameGrants> given;

  bool judges() const { return egress_stated || names_stated; }
  // Whether some name may be looked up: then whoever asks a resolver asks the supervisor's.
  bool answers_names() const;
};

// nullptr: the policy does not state the domain. The error says, for a refusal, what in them cannot
// be carried out: a selector or an operation that is unknown here.
schema::Result<NetworkSpec> make_network_spec(const schema::Requirement* egress,
                                              const schema::Requirement* names);

// The rule that decides about an address: of the deny rules that cover it the narrowest, and only
// without any of those the narrowest allow rule. nullptr: no rule covers it.
const NetworkRule* deciding_rule(const NetworkSpec& spec, bool bind, const InternetAddress& address,
                                 std::string_view protocol);

// The rule that decides about a connection to an address that was given out for `name`, by the same
// order.
const NetworkRule* deciding_rule_by_name(const NetworkSpec& spec, const std::string& name,
                                         std::uint16_t port, std::string_view protocol);

// The rule that decides about looking up a name (dns::name_text()), by the same order.
const NameRule* deciding_name_rule(const NetworkSpec& spec, const std::string& name);

// RFC 6761 section 6.3: a name of loopback, for which no name server is asked.
bool is_localhost(std::string_view name);

// Where programs of the C library's name service listen: nscd, systemd-resolved, avahi, sssd,
// winbind, nslcd, and the system bus, on which systemd-resolved answers too.
const std::vector<std::string>& resolver_paths();

}  // namespace aasm::backend_native
