#include "process_count.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <thread>
#include <utility>

#include "lowering.h"
#include "process_list.h"

namespace aasm::backend_native {
namespace {

using schema::Domain;
using schema::PolicyRule;
using schema::Requirement;

}  // namespace

std::optional<ProcessCeiling> process_ceiling(const std::vector<Requirement>& requirements) {
  const Requirement* requirement = requirement_on(requirements, Domain::kProcessCreation);
  if (requirement == nullptr) {
    return std::nullopt;
  }
  // Without a rule nothing is permitted.
  ProcessCeiling ceiling{0, requirement->default_rule};
  for (const PolicyRule& rule : requirement->rules) {
    const std::string& text = rule.selector.value.bytes();
    std::int64_t max = 0;
    std::from_chars(text.data(), text.data() + text.size(), max);
    ceiling.max = max;
  }
  return ceiling;
}

int creation_errno(const ProcessCeiling& ceiling) {
  return ceiling.max == 0 ? EPERM : EAGAIN;
}

ProcessCount::ProcessCount(std::optional<ProcessCeiling> ceiling, pid_t root, pid_t program)
    : ceiling_(std::move(ceiling)), root_(root) {
  if (!ceiling_) {
    return;
  }
  if (const auto listed = list_descendants(root)) {
    for (const ListedProcess& one : *listed) {
      (one.pid == program ? members_ : strangers_).emplace(one.pid, one.start_ticks);
    }
  }
  // What no look knows counts as born later: then one more may be.
  unborn_ = members_.empty() ? 1 : 0;
}

bool ProcessCount::admits(pid_t tid) {
  permitted_.erase(tid);  // its last creation is behind it
  // The program itself is one.
  if (ceiling_->max <= 1 || (!has_room() && !find_room())) {
    return false;
  }
  ++unborn_;
  permitted_.insert(tid);
  return true;
}

// Waits a moment for those that were permitted and may or may not be born yet; whoever lives
// already will not go away for waiting.
bool ProcessCount::find_room() {
  constexpr std::chrono::milliseconds kPatience(20);
  constexpr std::chrono::microseconds kNap(200);
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  for (;;) {
    look();
    if (has_room()) {
      return true;
    }
    if (counted_ >= ceiling_->max || std::chrono::steady_clock::now() >= deadline) {
      return false;
    }
    std::this_thread::sleep_for(kNap);
  }
}

void ProcessCount::forget_settled() {
  for (auto tid = permitted_.begin(); tid != permitted_.end();) {
    tid = left_creation(*tid) ? permitted_.erase(tid) : std::next(tid);
  }
}

// Each process that no earlier look has seen comes of one permission, and of those that have left
// the call before /proc is read no child is missed. So the unborn are at most the permissions not
// accounted for, and at most the threads that may still be in the call.
void ProcessCount::look() {
  forget_settled();
  const auto listed = list_descendants(root_);
  if (!listed) {
    return;  // what was known holds
  }
  std::unordered_map<pid_t, std::uint64_t> members;
  std::int64_t born = 0;
  counted_ = 0;
  for (const ListedProcess& one : *listed) {
    const auto stranger = strangers_.find(one.pid);
    if (stranger != strangers_.end() && stranger->second == one.start_ticks) {
      continue;
    }
    const bool being_reaped = one.parent == root_ && one.state == 'Z';
    counted_ += being_reaped ? 0 : 1;
    const auto earlier = members_.find(one.pid);
    const bool known = earlier != members_.end() && earlier->second == one.start_ticks;
    born += one.certain && !known ? 1 : 0;
    if (one.certain || known) {
      members.emplace(one.pid, one.start_ticks);
    }
  }
  members_ = std::move(members);
  unborn_ = std::min(std::max<std::int64_t>(unborn_ - born, 0),
                     static_cast<std::int64_t>(permitted_.size()));
}

}  // namespace aasm::backend_native
