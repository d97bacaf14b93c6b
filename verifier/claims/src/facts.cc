#include "aasm/claims/facts.h"

#include <algorithm>
#include <utility>

#include "text.h"

namespace aasm::claims {
namespace {

using schema::Control;
using schema::Purpose;

void append(std::vector<std::string>& to, const std::vector<std::string>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

std::vector<std::string>& list_of(CredentialNames& names, schema::AuthorityFate fate) {
  switch (fate) {
    case schema::AuthorityFate::kRemoved:
      return names.removed;
    case schema::AuthorityFate::kDelegated:
      return names.delegated;
    case schema::AuthorityFate::kAmbientUnremoved:
      return names.ambient_unremoved;
  }
  return names.ambient_unremoved;
}

}  // namespace

template <class T>
void RunFacts::keep_first(std::optional<Held<T>>& place, const RecordMark& mark, const T& body,
                          std::string_view kind) {
  if (place) {
    log_.note(ContradictionCode::kRecordRepeated, mark.seq, kind);
    return;
  }
  place = Held<T>{mark, body};
}

void RunFacts::note_order(const RecordMark& mark, ContradictionCode code, std::string_view kind) {
  if (started_) {
    log_.note(code, mark.seq, std::string(kind) + " stands after process.started");
  }
}

void RunFacts::add(std::int64_t seq, std::string_view boot, bool signer_ok,
                   const schema::RecordBody& body) {
  if (!opened_ && std::holds_alternative<schema::RunOpened>(body)) {
    boot_ = boot;
  }
  const bool opens = !opened_ && std::holds_alternative<schema::RunOpened>(body);
  const RecordMark mark{seq, opens || (opened_ && boot == boot_), signer_ok};
  if (!mark.same_boot && opened_ && !std::holds_alternative<schema::RunRecovered>(body)) {
    log_.note(ContradictionCode::kRecordOfAnotherBoot, seq, schema::kind_of(body));
  }
  if (!signer_ok) {
    log_.note(ContradictionCode::kSignerNotAccepted, seq, schema::kind_of(body));
  }
  std::visit([&](const auto& one) { on(mark, one); }, body);
}

void RunFacts::add_referenced_probe(std::int64_t seq, const schema::LeafHash& leaf,
                                    const schema::CapabilityProbed& body) {
  for (HeldProbe& probe : probes_) {
    if (probe.body.reference && probe.body.reference->seq == seq) {
      probe.referenced_leaf = leaf;
      probe.referenced = body;
      return;
    }
  }
  early_references_.push_back({seq, leaf, body});
}

const schema::AmbientAuthority* RunFacts::ambient() const {
  if (plan_) {
    return plan_->body.ambient ? &*plan_->body.ambient : nullptr;
  }
  return refused_ && refused_->body.ambient ? &*refused_->body.ambient : nullptr;
}

bool RunFacts::precedes_inventory() const {
  return (plan_ || refused_) && ambient() == nullptr;
}

CredentialNames RunFacts::credentials() const {
  CredentialNames names = credentials_;
  for (const Held<Control>& held : controls_) {
    const Control& control = held.body;
    // `environment`, and `environment.2` and so on where there are many names.
    if (control.id != "environment" && !control.id.starts_with("environment.")) {
      continue;
    }
    // An environment that was left as it is has no installed control, only an inventory.
    append(names.ambient_unremoved, control.ambient_unremoved);
    if (control.installed && control.purpose == Purpose::kPolicy) {
      append(names.delegated, control.names);
      append(names.removed, control.removed);
    }
  }
  if (const schema::AmbientAuthority* held = ambient()) {
    for (const schema::SensitiveName& one : held->sensitive) {
      list_of(names, one.fate).push_back(one.name);
    }
  }
  sort_unique(names.removed);
  sort_unique(names.delegated);
  sort_unique(names.ambient_unremoved);
  return names;
}

std::optional<std::vector<std::int64_t>> RunFacts::descriptors() const {
  for (const Held<Control>& control : controls_) {
    if (control.body.id == "descriptors" && control.body.installed) {
      return control.body.descriptors;
    }
  }
  const schema::AmbientAuthority* held = ambient();
  if (held == nullptr || !held->descriptors_listed) {
    return std::nullopt;
  }
  std::vector<std::int64_t> passed;
  for (const schema::InheritedDescriptor& one : held->descriptors) {
    if (one.fate != schema::AuthorityFate::kRemoved) {
      passed.push_back(one.number);
    }
  }
  return passed;
}

const schema::Requirement* RunFacts::requirement(schema::Domain domain) const {
  return policy_ ? policy_->body.requirement_for(domain) : nullptr;
}

const schema::RequirementOutcome* RunFacts::outcome(schema::Domain domain) const {
  return plan_ ? plan_->body.outcome_for(domain) : nullptr;
}

const schema::CapabilityProbed* RunFacts::measured() const {
  if (!plan_ || !plan_->body.backend) {
    return nullptr;
  }
  const std::string& backend = plan_->body.backend->id;
  const auto at = std::find_if(probes_.begin(), probes_.end(), [&](const HeldProbe& probe) {
    return probe.body.backend.id == backend;
  });
  if (at == probes_.end()) {
    return nullptr;
  }
  if (!at->body.reference) {
    return &at->body;
  }
  return at->referenced ? &*at->referenced : nullptr;
}

bool RunFacts::before_start(const RecordMark& mark) const {
  return !started_ || mark.seq < started_->mark.seq;
}

void RunFacts::on(const RecordMark& /*mark*/, const schema::LedgerCreated& /*body*/) {
  // A record of the ledger, not of a run: nothing to learn.
}
void RunFacts::on(const RecordMark& /*mark*/, const schema::KeyRotated& /*body*/) {}
void RunFacts::on(const RecordMark& /*mark*/, const schema::KeyReplaced& /*body*/) {}
void RunFacts::on(const RecordMark& /*mark*/, const schema::KeyRevoked& /*body*/) {}

void RunFacts::on(const RecordMark& mark, const schema::RunOpened& body) {
  keep_first(opened_, mark, body, "run.opened");
}

void RunFacts::on(const RecordMark& mark, const schema::CapabilityProbed& body) {
  note_order(mark, ContradictionCode::kSetupAfterStart, "capability.probed");
  const bool known = std::any_of(probes_.begin(), probes_.end(), [&](const HeldProbe& probe) {
    return probe.body.backend.id == body.backend.id;
  });
  if (known) {
    log_.note(ContradictionCode::kRecordRepeated, mark.seq, "capability.probed");
    return;
  }
  probes_.push_back({mark, body, std::nullopt, std::nullopt});
  const auto early = std::find_if(
      early_references_.begin(), early_references_.end(),
      [&](const EarlyReference& one) { return body.reference && body.reference->seq == one.seq; });
  if (early != early_references_.end()) {
    probes_.back().referenced_leaf = early->leaf;
    probes_.back().referenced = early->body;
  }
}

void RunFacts::on(const RecordMark& mark, const schema::PlanResolved& body) {
  note_order(mark, ContradictionCode::kSetupAfterStart, "plan.resolved");
  keep_first(plan_, mark, body, "plan.resolved");
}

void RunFacts::on(const RecordMark& mark, const schema::PlanRefused& body) {
  note_order(mark, ContradictionCode::kSetupAfterStart, "plan.refused");
  keep_first(refused_, mark, body, "plan.refused");
}

void RunFacts::on(const RecordMark& mark, const schema::ProcessStarted& body) {
  keep_first(started_, mark, body, "process.started");
}

void RunFacts::on(const RecordMark& mark, const schema::WitnessReported& body) {
  if (!started_) {
    log_.note(ContradictionCode::kActivityBeforeStart, mark.seq, "witness.reported");
  }
  keep_first(witness_, mark, body, "witness.reported");
}

void RunFacts::on(const RecordMark& mark, const schema::ProcessExited& body) {
  if (!started_) {
    log_.note(ContradictionCode::kActivityBeforeStart, mark.seq, "process.exited");
  }
  keep_first(exited_, mark, body, "process.exited");
}

void RunFacts::on(const RecordMark& mark, const schema::RunClosed& body) {
  keep_first(closed_, mark, body, "run.closed");
}

void RunFacts::on(const RecordMark& mark, const schema::RunRecovered& body) {
  keep_first(recovered_, mark, body, "run.recovered");
}

}  // namespace aasm::claims
