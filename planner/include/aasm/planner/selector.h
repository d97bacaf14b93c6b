#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "aasm/schema/record_policy.h"
#include "aasm/schema/result.h"

// Selectors as the sets of objects they stand for. An object is the narrowest selector that names
// it: one path, one host with its port, one address, one call. All functions are pure.
//
//   path_prefix                      a path and what lies below it, by whole components
//   host_pattern, address_range,     a host (a name, *.suffix, an address, a range, or * for all of
//   port                             them), a port or every port, a protocol or every protocol. A
//                                    name never stands for the addresses it leads to
//   syscall                          a call, or the calls of a group
//   socket_path, environment_name,   the one that is named
//   descriptor
//   limit                            a number and every smaller one; a word and itself
//   whole                            everything
namespace aasm::planner {

// The calls of a group ("@default"); none for a group that is not known, which then stands for
// itself alone. May be empty.
using GroupMembers = std::function<std::vector<std::string>(std::string_view group)>;

// The selector in its one form: host names in lower case, addresses as inet_ntop(3) writes them, an
// IPv4 address that is mapped into IPv6 as IPv4. kMalformed with a sentence that shows the text.
schema::Result<schema::Selector> make_selector(schema::SelectorType type, std::string_view text);

// True when every object of `inner` is one of `outer`. False for texts that are no selectors,
// unless they are the same.
bool contains(const schema::Selector& outer, const schema::Selector& inner,
              const GroupMembers& groups = {});

// True when every object of `one` is in at least one of `all`: 10.0.0.0/8 is in its two halves.
bool covered_by(const schema::Selector& one, const std::vector<schema::Selector>& all,
                const GroupMembers& groups = {});

// What both stand for, as selectors that together stand for exactly that; none when nothing is in
// both. Only two groups of calls have more than one. The type is that of `a` where the types are
// the same, else the one of the two that can say it.
std::vector<schema::Selector> intersect(const schema::Selector& a, const schema::Selector& b,
                                        const GroupMembers& groups = {});

}  // namespace aasm::planner
