#include "inventory_checks.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "text.h"

namespace aasm::claims {
namespace {

using schema::AmbientAuthority;
using schema::AuthorityFate;
using schema::Control;
using schema::InheritedDescriptor;
using schema::SensitiveName;

// Long lists stand in several controls: environment, environment.2 and so on.
struct EnvironmentControls {
  bool recorded = false;
  bool installed = false;  // for policy; names and removed are of these alone
  std::vector<std::string> names;
  std::vector<std::string> removed;
  std::vector<std::string> ambient_unremoved;
};

void append(std::vector<std::string>& to, const std::vector<std::string>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

EnvironmentControls environment_controls(const RunFacts& facts) {
  EnvironmentControls found;
  for (const Held<Control>& held : facts.controls()) {
    const Control& control = held.body;
    if (control.domain != schema::Domain::kCredential ||
        (control.id != "environment" && !control.id.starts_with("environment."))) {
      continue;
    }
    found.recorded = true;
    append(found.ambient_unremoved, control.ambient_unremoved);
    if (control.installed && control.purpose == schema::Purpose::kPolicy) {
      found.installed = true;
      append(found.names, control.names);
      append(found.removed, control.removed);
    }
  }
  sort_unique(found.names);
  sort_unique(found.removed);
  sort_unique(found.ambient_unremoved);
  return found;
}

bool has(const std::vector<std::string>& sorted, const std::string& name) {
  return std::binary_search(sorted.begin(), sorted.end(), name);
}

// Whether the controls say of this name what the inventory says.
bool agrees(const SensitiveName& one, const EnvironmentControls& controls) {
  switch (one.fate) {
    case AuthorityFate::kRemoved:
      return !controls.installed || has(controls.removed, one.name);
    case AuthorityFate::kDelegated:
      return !controls.installed || has(controls.names, one.name);
    case AuthorityFate::kAmbientUnremoved:
      return has(controls.ambient_unremoved, one.name);
  }
  return false;
}

std::string count_fault(const char* what, std::size_t recorded, std::int64_t held) {
  return std::string(what) + ": the controls have " + std::to_string(recorded) +
         ", the inventory " + std::to_string(held);
}

// Empty when they agree, as below.
std::string environment_fault(const AmbientAuthority& held, const EnvironmentControls& controls) {
  if (!controls.recorded) {
    return "";
  }
  const std::int64_t passed = add_saturating(held.delegated, held.ambient_unremoved);
  if (controls.installed && static_cast<std::int64_t>(controls.names.size()) != passed) {
    return count_fault("names passed on", controls.names.size(), passed);
  }
  if (controls.installed && static_cast<std::int64_t>(controls.removed.size()) != held.removed) {
    return count_fault("names removed", controls.removed.size(), held.removed);
  }
  for (const SensitiveName& one : held.sensitive) {
    if (!agrees(one, controls)) {
      return "the inventory has " + shown(one.name) + " as " + name_of(one.fate) +
             ", the controls do not";
    }
  }
  for (const std::string& name : controls.ambient_unremoved) {
    const bool listed =
        std::any_of(held.sensitive.begin(), held.sensitive.end(), [&](const SensitiveName& one) {
          return one.name == name && one.fate == AuthorityFate::kAmbientUnremoved;
        });
    if (!listed && held.sensitive_unlisted == 0) {
      return "the inventory does not have " + shown(name);
    }
  }
  return "";
}

const Control* descriptors_control(const RunFacts& facts) {
  for (const Held<Control>& held : facts.controls()) {
    if (held.body.id == "descriptors" && held.body.domain == schema::Domain::kCredential &&
        held.body.installed) {
      return &held.body;
    }
  }
  return nullptr;
}

// The control closes every descriptor but those that it lists.
std::string descriptor_fault(const AmbientAuthority& held, const Control& control) {
  const std::vector<std::int64_t>& passed = control.descriptors;
  for (const InheritedDescriptor& one : held.descriptors) {
    const bool kept = std::find(passed.begin(), passed.end(), one.number) != passed.end();
    if (one.fate != (kept ? AuthorityFate::kDelegated : AuthorityFate::kRemoved)) {
      return "descriptor " + std::to_string(one.number) + " is " + name_of(one.fate) +
             " by the inventory and " + (kept ? "passed on" : "closed") + " by the control";
    }
  }
  for (const std::int64_t number : passed) {
    const bool listed =
        std::any_of(held.descriptors.begin(), held.descriptors.end(),
                    [number](const InheritedDescriptor& one) { return one.number == number; });
    const bool beyond = held.descriptors_unlisted > 0 &&
                        (held.descriptors.empty() || number > held.descriptors.back().number);
    if (!listed && !beyond) {
      return "descriptor " + std::to_string(number) + " is passed on and was not inherited";
    }
  }
  return "";
}

}  // namespace

void check_inventory(const RunFacts& facts, ContradictionLog& log) {
  if (!facts.plan() || !facts.plan()->body.ambient) {
    return;
  }
  const AmbientAuthority& held = *facts.plan()->body.ambient;
  const Control* descriptors = held.descriptors_listed ? descriptors_control(facts) : nullptr;
  for (const std::string& fault :
       {environment_fault(held, environment_controls(facts)),
        descriptors == nullptr ? std::string() : descriptor_fault(held, *descriptors)}) {
    if (!fault.empty()) {
      log.note(ContradictionCode::kInventoryDiffers, facts.plan()->mark.seq, fault);
    }
  }
}

}  // namespace aasm::claims
