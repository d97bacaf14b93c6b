#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "aasm/claims/facts.h"

#include "text.h"

// What comes in parts: the policy, the controls and the canaries.
namespace aasm::claims {
namespace {

using schema::Control;

// What the rules read of a control; grants and filter programs can be long.
Control without_detail(const Control& control) {
  Control slim = control;
  slim.landlock.reset();
  slim.seccomp.reset();
  return slim;
}

// Whether the later of two controls of one name goes on with the lists of the first.
bool is_piece(const Control& first, const Control& later) {
  const auto rest = [](const Control& control) {
    Control all = without_detail(control);
    all.rules.clear();
    return schema::write_fields(all);
  };
  const std::set<std::string_view> rules(later.rules.begin(), later.rules.end());
  const bool more = !rules.empty() &&
                    std::none_of(first.rules.begin(), first.rules.end(),
                                 [&](const std::string& rule) { return rules.count(rule) != 0; });
  return (later.landlock || more) && rest(first) == rest(later);
}

}  // namespace

void RunFacts::on(const RecordMark& mark, const schema::PolicyResolved& body) {
  note_order(mark, ContradictionCode::kSetupAfterStart, "policy.resolved");
  if (policy_) {
    join_policy(mark, body);
    return;
  }
  if (body.part.value_or(1) != 1) {
    log_.note(ContradictionCode::kPartMissing, mark.seq,
              "part " + std::to_string(*body.part) + " of policy.resolved is the first");
  }
  policy_ = Held<schema::PolicyResolved>{mark, body};
}

// Only what stands before the start can be what the program ran under, so nothing is added later:
// what is made of an event does not hang on records behind it.
void RunFacts::join_policy(const RecordMark& mark, const schema::PolicyResolved& body) {
  schema::PolicyResolved& so_far = policy_->body;
  if (started_ || !schema::is_next_part(so_far, body)) {
    const bool whole = schema::has_all_parts(so_far);
    log_.note(whole ? ContradictionCode::kRecordRepeated : ContradictionCode::kPartMissing,
              mark.seq, whole ? "policy.resolved" : "a part of policy.resolved is not the next");
    return;
  }
  schema::join_part(so_far, body);
  RecordMark& all = policy_->mark;
  all = {mark.seq, all.same_boot && mark.same_boot, all.signer_ok && mark.signer_ok};
}

// Every backend reports all its controls, and all its canaries, as one list.
void RunFacts::count_part(Parts& parts, const RecordMark& mark, std::int64_t part, std::int64_t of,
                          ContradictionCode repeated) {
  const bool starts = part == 1 && parts.records == 0;
  const bool starts_anew = part == 1 && parts.records > 0 && parts.last == parts.of;
  const bool goes_on = part == parts.last + 1 && of == parts.of;
  if (starts_anew) {
    log_.note(repeated, mark.seq, "a second list after a whole one");
  } else if (!starts && !goes_on) {
    log_.note(ContradictionCode::kPartMissing, mark.seq,
              "part " + std::to_string(part) + " after part " + std::to_string(parts.last));
  }
  parts = {parts.records + 1, part, of};
}

// A long list of grants, or of rules, is told as several entries that agree in everything else.
void RunFacts::keep_control(const RecordMark& mark, const Control& control) {
  Control slim = without_detail(control);
  const std::string key =
      name_of(slim.domain) + " " + name_of(slim.purpose) + " " + slim.id;  // tokens have no spaces
  const auto [first, fresh] = control_keys_.try_emplace(key, controls_.size());
  const bool piece = !fresh && is_piece(controls_[first->second].body, control);
  if (!fresh && !piece) {
    log_.note(ContradictionCode::kControlRepeated, mark.seq, "control " + shown(slim.id));
  }
  controls_.push_back({mark, std::move(slim)});
}

void RunFacts::keep_canary(const RecordMark& mark, const schema::Canary& canary) {
  if (!canary_keys_.insert(name_of(canary.domain) + " " + canary.id).second) {
    log_.note(ContradictionCode::kCanaryRepeated, mark.seq, "canary " + shown(canary.id));
  }
  canaries_.push_back({mark, canary});
}

void RunFacts::on(const RecordMark& mark, const schema::ControlPrepared& body) {
  note_order(mark, ContradictionCode::kControlAfterStart, "control.prepared");
  count_part(control_parts_, mark, body.part, body.parts, ContradictionCode::kControlRepeated);
  for (const Control& control : body.controls) {
    keep_control(mark, control);
  }
  images_.insert(images_.end(), body.images.begin(), body.images.end());
  if (failed_step_.empty()) {
    failed_step_ = body.failed_step;
  }
}

void RunFacts::on(const RecordMark& mark, const schema::BoundaryProved& body) {
  note_order(mark, ContradictionCode::kSetupAfterStart, "boundary.proved");
  count_part(boundary_parts_, mark, body.part, body.parts, ContradictionCode::kCanaryRepeated);
  for (const schema::Canary& canary : body.canaries) {
    keep_canary(mark, canary);
  }
  for (const schema::NoCanary& none : body.no_canary) {
    no_canaries_.push_back({mark, none});
  }
}

}  // namespace aasm::claims
