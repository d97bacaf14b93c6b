#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "aasm/schema/record_policy.h"

// One policy in several records of `policy.resolved`, and back (docs/spec/ledger-format.md
// section 3).
namespace aasm::schema {

// What a policy may come to, after lowering: rules, gaps and unmapped statements together.
inline constexpr std::size_t kMaxPolicyItems = 4096;
std::size_t num_policy_items(const PolicyResolved& policy);

// Why no number of records holds the policy, in words that follow "the policy"; nullopt when some
// does. Ledger and reader know no limit but that of a record; the writer keeps this one.
std::optional<std::string> why_unrecordable(const PolicyResolved& policy);

// The policy as it is recorded: itself, or its parts. Precondition: not why_unrecordable().
std::vector<PolicyResolved> split_policy(PolicyResolved policy);

// Whether `next` goes on where `so_far`, a record or several joined, ends: the next part of as
// many, equal in what stands in every part, and with a requirement that began before only as its
// first, on the domain of the last one.
bool is_next_part(const PolicyResolved& so_far, const PolicyResolved& next);

// Adds what is_next_part() accepted; `so_far.part` is then that of `next`.
void join_part(PolicyResolved& so_far, const PolicyResolved& next);

// True when no part is to come.
bool has_all_parts(const PolicyResolved& so_far);

}  // namespace aasm::schema
