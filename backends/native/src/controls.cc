#include "controls.h"

#include <algorithm>
#include <string>
#include <utility>

#include "aasm/planner/environment.h"

#include "control_parts.h"
#include "landlock_uapi.h"
#include "lowering.h"
#include "syscall_groups.h"

namespace aasm::backend_native {
namespace {

using schema::Control;
using schema::Domain;
using wire::Step;

// Landlock cannot take a path out of a grant: the control `files` does.
void leave_out_path_denials(const PreparedFacts& facts, Control& control) {
  for (const FileDenial& denial : facts.filter.files.denials) {
    if (denial.domain == control.domain) {
      std::erase(control.rules, denial.rule);
    }
  }
}

Control landlock_control(const PreparedFacts& facts, Domain domain,
                         const std::vector<schema::PathGrant>& grants) {
  Control control = control_of(facts, "landlock", domain, Step::kLandlock);
  serve_policy(facts, control);
  if (facts.filter.files.judges()) {
    leave_out_path_denials(facts, control);
  }
  control.mechanism = "landlock";
  control.landlock = schema::LandlockDetail{facts.ruleset.abi, hex_mask(facts.ruleset.handled_fs),
                                            hex_mask(facts.ruleset.scoped), grants};
  return control;
}

// Where files are observed Landlock keeps processes apart and no files.
Control observing_landlock_control(const PreparedFacts& facts, Domain domain) {
  Control control = control_of(facts, "landlock", domain, Step::kLandlock);
  control.mechanism = "landlock";
  control.note = "grants every file, since files are observed; processes stay apart";
  control.landlock = schema::LandlockDetail{facts.ruleset.abi,
                                            hex_mask(facts.ruleset.handled_fs),
                                            hex_mask(facts.ruleset.scoped),
                                            {*facts.ruleset.everything}};
  return control;
}

// What is closed all the same.
Control own_files_control(const PreparedFacts& facts, Domain domain) {
  Control control = control_of(facts, "aasm_files", domain, Step::kSeccomp);
  control.mechanism = "seccomp_user_notification";
  control.rules = {"self_protection.aasm_files"};
  control.note = domain == Domain::kFilesystemRead
                     ? "nothing of aasm's home, ledger, keys and trust can be read"
                     : "nothing of aasm's home, ledger, keys, trust, policy and programs can be "
                       "written";
  return control;
}

void add_landlock_controls(const PreparedFacts& facts, std::vector<Control>& controls) {
  const Ruleset& ruleset = facts.ruleset;
  for (const Domain domain : {Domain::kFilesystemRead, Domain::kFilesystemWrite}) {
    if (ruleset.everything) {
      controls.push_back(observing_landlock_control(facts, domain));
      controls.push_back(own_files_control(facts, domain));
    } else {
      controls.push_back(landlock_control(
          facts, domain,
          domain == Domain::kFilesystemRead ? ruleset.read_grants : ruleset.write_grants));
    }
  }
}

Control no_new_privs_control(const PreparedFacts& facts) {
  Control control = control_of(facts, "no_new_privs", Domain::kCredential, Step::kNoNewPrivs);
  control.mechanism = "prctl";
  control.rules = {"self_protection.no_new_privs"};
  return control;
}

Control environment_control(const PreparedFacts& facts) {
  // The environment is an argument of the exec: there is no step before it.
  Control control = control_of(facts, "environment", Domain::kCredential, Step::kTarget);
  serve_policy(facts, control);
  control.mechanism = "execve_environment";
  control.step = wire::step_name(Step::kExec);
  control.installed = true;
  control.os_errno = 0;
  for (const std::string& entry : facts.request.environment) {
    const std::string_view name = std::string_view(entry).substr(0, entry.find('='));
    control.names.push_back(planner::recordable_name(name));
  }
  control.removed = facts.request.spec.credentials.removed;
  control.note = "only these names are in the environment of the program";
  return control;
}

// No control, but an inventory: what a policy that names no variable leaves in reach.
Control environment_left_open(const PreparedFacts& facts) {
  Control control = control_of(facts, "environment", Domain::kCredential, Step::kTarget);
  control.mechanism = "none";
  control.step = wire::step_name(Step::kExec);
  control.installed = false;
  control.os_errno = 0;
  control.ambient_unremoved = facts.request.spec.credentials.ambient_unremoved;
  control.note = "the environment is passed on as it is";
  return control;
}

Control descriptors_control(const PreparedFacts& facts) {
  Control control = control_of(facts, "descriptors", Domain::kCredential, Step::kDescriptors);
  serve_policy(facts, control);
  control.mechanism = "close_range";
  control.descriptors.assign(facts.request.descriptors.begin(), facts.request.descriptors.end());
  return control;
}

Control core_dump_control(const PreparedFacts& facts) {
  Control control = control_of(facts, "core_dumps", Domain::kCredential, Step::kResourceLimits);
  control.mechanism = "rlimit_core";
  control.rules = {"self_protection.core_dumps"};
  control.note = "RLIMIT_CORE is 0";
  return control;
}

Control capabilities_control(const PreparedFacts& facts) {
  Control control = control_of(facts, "capabilities", Domain::kCredential, Step::kCapabilities);
  control.mechanism = "capset";
  control.rules = {"self_protection.capabilities"};
  control.note = "kept at most " + hex_mask(facts.cut->keep) +
                 (facts.cut->bounding_set ? ", the bounding set too"
                                          : "; the bounding set is unchanged, and no_new_privs "
                                            "keeps executed files from using it");
  return control;
}

Control scope_control(const PreparedFacts& facts, std::string id, Domain domain,
                      std::string mechanism, std::string note) {
  Control control = control_of(facts, std::move(id), domain, Step::kLandlock);
  control.mechanism = std::move(mechanism);
  control.rules = {"self_protection." + control.id};
  control.note = std::move(note);
  return control;
}

Control seccomp_policy_control(const PreparedFacts& facts) {
  Control control = control_of(facts, "seccomp", Domain::kSyscall, Step::kSeccomp);
  serve_policy(facts, control);
  control.mechanism = "seccomp_user_notification";
  return control;
}

Control seccomp_protection_control(const PreparedFacts& facts) {
  Control control = control_of(facts, "seccomp", Domain::kSyscall, Step::kSeccomp);
  control.mechanism = "seccomp_user_notification";
  for (const auto& closed : facts.filter.closed) {
    const bool refused = closed.second->answer == ClosedAnswer::kEperm;
    control.rules.push_back((refused ? "self_protection." : "compat.") +
                            std::string(closed.second->name));
  }
  for (const ClosedArgument& argument : closed_arguments()) {
    const bool compat = argument.rule == "set_dumpable" || argument.rule == "nested_filter";
    control.rules.push_back((compat ? "compat." : "self_protection.") + std::string(argument.rule));
  }
  if (facts.filter.files.observes()) {
    control.rules.emplace_back("self_protection.unknown_call");
  }
  std::sort(control.rules.begin(), control.rules.end());
  return control;
}

constexpr const char* kNotification = "seccomp_user_notification";

struct ControlWords {
  std::string id;
  std::string mechanism;
  std::string note;
};

// One that serves what the policy states of the domain.
Control policy_control(const PreparedFacts& facts, Domain domain, Step step, ControlWords words) {
  Control control = control_of(facts, std::move(words.id), domain, step);
  serve_policy(facts, control);
  control.mechanism = std::move(words.mechanism);
  control.note = std::move(words.note);
  return control;
}

// What says of every call on files how it was decided; what it denies itself stands in the rules.
Control file_control(const PreparedFacts& facts, Domain domain) {
  return policy_control(facts, domain, Step::kSeccomp,
                        {"files", kNotification,
                         facts.filter.files.observes()
                             ? "calls are made by the broker; what policy refuses is observed"
                             : "calls are made by the broker, inside the Landlock domain of the "
                               "policy"});
}

void add_file_controls(const PreparedFacts& facts, std::vector<Control>& controls) {
  const FileSpec& files = facts.filter.files;
  if (files.judges() && files.write_stated) {
    controls.push_back(file_control(facts, Domain::kFilesystemWrite));
  }
  if (files.level == FileLevel::kDecisions && files.read_stated) {
    controls.push_back(file_control(facts, Domain::kFilesystemRead));
  }
}

// What judges the calls on sockets; its refusals are answered by the channel.
Control network_control(const PreparedFacts& facts, Domain domain) {
  return policy_control(
      facts, domain, Step::kSeccomp,
      {"network", kNotification, "allowed calls are made by the broker on the caller's socket"});
}

// What decides about names; the filter leads to it whoever asks a resolver.
Control resolver_control(const PreparedFacts& facts) {
  return policy_control(facts, Domain::kNameResolution, Step::kSeccomp,
                        {"resolver", "resolver",
                         "questions to port 53 of any address reach the supervisor's resolver; "
                         "only names that policy allows are asked of the host's"});
}

// The floor: the program itself can bind and connect no TCP socket, whatever a call would ask for.
Control network_floor_control(const PreparedFacts& facts) {
  return policy_control(
      facts, Domain::kNetworkEgress, Step::kInnerLandlock,
      {"network_floor", "landlock",
       "TCP ports can neither be bound nor connected to (Landlock network rights " +
           hex_mask(facts.inner_ruleset->handled_net) + ", no rule)"});
}

void add_network_controls(const PreparedFacts& facts, std::vector<Control>& controls) {
  if (!facts.inner_ruleset) {
    return;
  }
  if (facts.filter.network.egress_stated) {
    controls.push_back(network_control(facts, Domain::kNetworkEgress));
    controls.push_back(network_floor_control(facts));
  }
  if (facts.filter.network.names_stated) {
    controls.push_back(network_control(facts, Domain::kNameResolution));
  }
  if (facts.filter.network.answers_names()) {
    controls.push_back(resolver_control(facts));
  }
}

void add_ipc_controls(const PreparedFacts& facts, std::vector<Control>& controls) {
  const IpcSpec& ipc = facts.filter.ipc;
  const auto add = [&](bool stated, std::string id, std::string note) {
    if (stated) {
      controls.push_back(policy_control(facts, Domain::kIpc, Step::kSeccomp,
                                        {std::move(id), kNotification, std::move(note)}));
    }
  };
  add(ipc.sockets_stated, "unix_sockets",
      "allowed calls are made by the broker on the caller's socket");
  if (ipc.observes && !ipc.signals_rule.empty()) {
    Control signals = control_of(facts, "signals", Domain::kIpc, Step::kSeccomp);
    signals.mechanism = kNotification;
    signals.rules = {ipc.signals_rule};
    signals.note = "no signal leaves the process tree, though the domain is observed";
    controls.push_back(std::move(signals));
  } else {
    add(!ipc.signals_rule.empty(), "signals", "no signal leaves the process tree");
  }
  add(!ipc.memory_rule.empty(), "shared_memory",
      "System V objects of others and POSIX message queues cannot be used; the broker makes those "
      "of the tree");
  if (!ipc.abstract_rule.empty()) {
    controls.push_back(
        policy_control(facts, Domain::kIpc, Step::kLandlock,
                       {"abstract_scope", "landlock_scope",
                        "abstract unix sockets that were made outside cannot be reached"}));
  }
}

void add_seccomp_controls(const PreparedFacts& facts, std::vector<Control>& controls) {
  if (facts.filter.stated) {
    controls.push_back(seccomp_policy_control(facts));
  }
  controls.push_back(seccomp_protection_control(facts));
  Control& first = controls[controls.size() - (facts.filter.stated ? 2 : 1)];
  first.seccomp = facts.seccomp;
}

}  // namespace

std::vector<Control> list_controls(const PreparedFacts& facts) {
  std::vector<Control> controls;
  controls.push_back(no_new_privs_control(facts));
  // A policy that names no variable lets the environment pass: then nothing is controlled.
  const planner::ExecutionSpec& spec = facts.request.spec;
  const bool controlled =
      requirement_on(facts.request.spec.requirements, Domain::kCredential) != nullptr &&
      spec.credentials.ambient_unremoved.empty() && spec.ambient.ambient_unremoved == 0;
  controls.push_back(controlled ? environment_control(facts) : environment_left_open(facts));
  controls.push_back(descriptors_control(facts));
  controls.push_back(core_dump_control(facts));
  if (facts.cut) {
    controls.push_back(capabilities_control(facts));
  }
  add_landlock_controls(facts, controls);
  if ((facts.ruleset.scoped & landlock::kScopeSignal) != 0) {
    controls.push_back(scope_control(facts, "signal_scope", Domain::kIpc, "landlock_scope",
                                     "no signal leaves the process tree"));
  }
  controls.push_back(scope_control(facts, "ptrace", Domain::kCredential, "landlock_domain",
                                   "processes outside cannot be traced or read"));
  add_file_controls(facts, controls);
  add_network_controls(facts, controls);
  add_ipc_controls(facts, controls);
  add_seccomp_controls(facts, controls);
  add_limit_controls(facts, controls);
  return controls;
}

}  // namespace aasm::backend_native
