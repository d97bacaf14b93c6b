#include "aasm/schema/policy_parts.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

#include "aasm/schema/fields.h"
#include "aasm/schema/json_write.h"
#include "aasm/schema/list_pieces.h"

#include "json_profile.h"

namespace aasm::schema {
namespace {

// What stands in every part may take what its lists leave of a record (65,000 bytes), the envelope
// and the names of blobs included.
constexpr std::size_t kMaxHeadBytes = 23000;

// What one item takes of a record. Bounds, not sizes: to write every rule for its length would cost
// as much as to record it.
struct Room {
  std::size_t bytes = 0;
  std::size_t members = 0;
};

std::size_t text_bound(std::string_view text) {
  std::size_t bytes = 2;
  for (const char c : text) {
    bytes += detail::must_escape(c) ? std::size_t{6} : std::size_t{1};
  }
  return bytes;
}

// As a text or, where it is not UTF-8, in base64.
std::size_t bytes_bound(std::string_view bytes) {
  return std::max(text_bound(bytes), 4 * (bytes.size() / 3 + 1) + 10);
}

Room room_of(const PolicyRule& rule) {
  // The names of the members, two words and two numbers.
  constexpr Room kRest{140, 10};
  return {kRest.bytes + text_bound(rule.id) + text_bound(rule.operation) +
              bytes_bound(rule.selector.value.bytes()),
          kRest.members};
}

Room room_of_head(const Requirement& requirement) {
  constexpr Room kRest{260, 9};
  return {kRest.bytes + text_bound(requirement.default_rule), kRest.members};
}

Room room_of(const PolicyGap& gap) {
  constexpr Room kRest{80, 4};
  return {kRest.bytes + text_bound(gap.node) + text_bound(gap.reason), kRest.members};
}

// The parts of one policy while they fill up.
class Parts {
 public:
  explicit Parts(PolicyResolved head) : head_(std::move(head)), parts_(1, head_) {}

  void add(Requirement requirement) {
    const std::vector<PolicyRule> rules = std::exchange(requirement.rules, {});
    const Room head = room_of_head(requirement);
    take(head);
    parts_.back().requirements.push_back(requirement);
    for (const PolicyRule& rule : rules) {
      if (take(room_of(rule))) {
        charge(head);
        parts_.back().requirements.push_back(requirement);
      }
      parts_.back().requirements.back().rules.push_back(rule);
    }
  }

  void add(std::vector<PolicyGap> PolicyResolved::*list, PolicyGap gap) {
    take(room_of(gap));
    (parts_.back().*list).push_back(std::move(gap));
  }

  std::vector<PolicyResolved> finish() {
    for (std::size_t i = 0; parts_.size() > 1 && i < parts_.size(); ++i) {
      parts_[i].part = static_cast<std::int64_t>(i + 1);
      parts_[i].parts = static_cast<std::int64_t>(parts_.size());
    }
    return std::move(parts_);
  }

 private:
  void charge(const Room& room) {
    used_.bytes += room.bytes;
    used_.members += room.members;
  }

  // True when a new part was begun for it.
  bool take(const Room& room) {
    const bool full =
        used_.bytes + room.bytes > kPieceBytes || used_.members + room.members > kPieceMembers;
    const bool fresh = full && used_.members > 0;
    if (fresh) {
      parts_.push_back(head_);
      used_ = {};
    }
    charge(room);
    return fresh;
  }

  PolicyResolved head_;
  std::vector<PolicyResolved> parts_;
  Room used_;
};

auto head_of(const PolicyResolved& policy) {
  return std::tie(policy.state, policy.source_kind, policy.source, policy.document, policy.blob,
                  policy.scope, policy.extends, policy.on_denial, policy.witness, policy.error,
                  policy.parts);
}

auto head_of(const Requirement& requirement) {
  return std::tie(requirement.domain, requirement.intent, requirement.posture,
                  requirement.descendants, requirement.evidence, requirement.default_rule,
                  requirement.on_denial);
}

bool goes_on(const Requirement& last, const Requirement& first) {
  return head_of(last) == head_of(first);
}

PolicyResolved without_lists(const PolicyResolved& policy) {
  PolicyResolved head;
  head.state = policy.state;
  head.source_kind = policy.source_kind;
  head.source = policy.source;
  head.document = policy.document;
  head.blob = policy.blob;
  head.scope = policy.scope;
  head.extends = policy.extends;
  head.on_denial = policy.on_denial;
  head.witness = policy.witness;
  head.error = policy.error;
  return head;
}

// The bytes of the largest rule or gap.
std::size_t largest_item(const PolicyResolved& policy) {
  std::size_t most = 0;
  for (const Requirement& requirement : policy.requirements) {
    for (const PolicyRule& rule : requirement.rules) {
      most = std::max(most, room_of(rule).bytes);
    }
  }
  for (const auto* gaps : {&policy.gaps, &policy.unmapped}) {
    for (const PolicyGap& gap : *gaps) {
      most = std::max(most, room_of(gap).bytes);
    }
  }
  return most;
}

template <class T>
void append(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

std::size_t num_policy_items(const PolicyResolved& policy) {
  std::size_t items = policy.gaps.size() + policy.unmapped.size();
  for (const Requirement& requirement : policy.requirements) {
    items += requirement.rules.size();
  }
  return items;
}

std::optional<std::string> why_unrecordable(const PolicyResolved& policy) {
  if (const std::size_t items = num_policy_items(policy); items > kMaxPolicyItems) {
    return "comes to " + std::to_string(items) + " rules and gaps, and there is room for " +
           std::to_string(kMaxPolicyItems) +
           " in the record of a run; grant directories in place of what lies in them";
  }
  if (json_write(write_fields(without_lists(policy))).size() > kMaxHeadBytes) {
    return "is read from files whose names take more than " + std::to_string(kMaxHeadBytes) +
           " bytes of a record; give them shorter names";
  }
  if (const std::size_t bytes = largest_item(policy); bytes > kPieceBytes) {
    return "holds a statement that takes " + std::to_string(bytes) +
           " bytes of a record, and there is room for " + std::to_string(kPieceBytes);
  }
  return std::nullopt;
}

std::vector<PolicyResolved> split_policy(PolicyResolved policy) {
  Parts parts(without_lists(policy));
  for (Requirement& requirement : policy.requirements) {
    parts.add(std::move(requirement));
  }
  for (PolicyGap& gap : policy.gaps) {
    parts.add(&PolicyResolved::gaps, std::move(gap));
  }
  for (PolicyGap& gap : policy.unmapped) {
    parts.add(&PolicyResolved::unmapped, std::move(gap));
  }
  return parts.finish();
}

bool is_next_part(const PolicyResolved& so_far, const PolicyResolved& next) {
  if (!so_far.part || !next.part || *next.part != *so_far.part + 1 ||
      head_of(so_far) != head_of(next)) {
    return false;
  }
  for (const Requirement& one : next.requirements) {
    const bool first = &one == &next.requirements.front();
    if (so_far.requirement_for(one.domain) != nullptr &&
        !(first && goes_on(so_far.requirements.back(), one))) {
      return false;
    }
  }
  return true;
}

void join_part(PolicyResolved& so_far, const PolicyResolved& next) {
  for (const Requirement& one : next.requirements) {
    if (so_far.requirements.empty() || so_far.requirements.back().domain != one.domain) {
      so_far.requirements.push_back(one);
    } else {
      append(so_far.requirements.back().rules, one.rules);
    }
  }
  append(so_far.gaps, next.gaps);
  append(so_far.unmapped, next.unmapped);
  so_far.part = next.part;
}

bool has_all_parts(const PolicyResolved& so_far) {
  return so_far.part == so_far.parts;
}

}  // namespace aasm::schema
