#include <utility>

#include "aasm/planner/refusal.h"

#include "refusal_words.h"

// Refusals of a launch as a whole.
namespace aasm::planner {
namespace {

using schema::LaunchRefusal;
using schema::Refusal;

Refusal launch_refusal(LaunchRefusal kind, std::string detail, std::string fix) {
  Refusal refusal;
  refusal.launch = kind;
  refusal.detail = std::move(detail);
  refusal.fix = std::move(fix);
  return refusal;
}

std::string listed(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) {
    text.append(text.empty() ? "" : ", ").append(quoted_display(item));
  }
  return text;
}

std::string grant_of(const schema::PolicyRule& rule, const PolicyView& policy) {
  return quoted_display(rule.id) + " (" +
         source_place(source_of(policy, rule.id), rule.line, rule.column) + ") grants to " +
         displayed(rule.operation) + " " + quoted_display(rule.selector.value.bytes());
}

}  // namespace

Refusal refuse_backend_unavailable(const std::string& backend, const std::string& reason) {
  return launch_refusal(
      LaunchRefusal::kBackendUnavailable,
      "backend " + displayed(backend) + " cannot be used here: " + displayed(reason) +
          ". Nothing else takes its place, and the program is not run without a boundary",
      "provide what it needs, choose another class or backend (`aasm backends list`), or pass "
      "`--isolation none` to run without a boundary and have the record say so");
}

Refusal refuse_backends_not_built(const std::vector<std::string>& backends) {
  return launch_refusal(LaunchRefusal::kBackendUnavailable,
                        "not built in this version, and so of no help here: " + listed(backends) +
                            ". Nothing else takes their place, and the program is not run without "
                            "a boundary",
                        "choose a class that this version builds (`aasm backends list`), or pass "
                        "`--isolation none` to run without a boundary and have the record say so");
}

Refusal refuse_unknown_backend(const std::string& backend, const std::vector<std::string>& known) {
  return launch_refusal(LaunchRefusal::kBackendUnavailable,
                        "there is no backend called " + quoted_display(backend) +
                            "; this version knows " + listed(known),
                        "pass one of these to --isolation-backend, or leave the option out and let "
                        "`--isolation auto` choose");
}

Refusal refuse_backend_class(const std::string& backend, schema::IsolationClass is,
                             schema::IsolationClass asked) {
  return launch_refusal(LaunchRefusal::kBackendUnavailable,
                        "backend " + displayed(backend) + " realises the class " +
                            std::string(schema::token(is)) + " and --isolation asks for " +
                            std::string(schema::token(asked)),
                        "pass `--isolation " + std::string(schema::token(is)) +
                            "`, or leave --isolation-backend out");
}

Refusal refuse_backend_with_none(const std::string& backend) {
  return launch_refusal(LaunchRefusal::kBackendUnavailable,
                        "--isolation-backend " + displayed(backend) +
                            " names what builds a boundary and --isolation none asks for none",
                        "leave --isolation-backend out, or pass `--isolation auto`");
}

Refusal refuse_policy_unconfigured(const PolicyView& policy,
                                   const std::vector<std::string>& looked_in) {
  if (!policy.source.empty()) {
    return launch_refusal(LaunchRefusal::kPolicyUnconfigured,
                          displayed(policy.source) +
                              " states no control over the execution of a program; having said "
                              "nothing is not having allowed everything",
                          "state at least `filesystem.read.allow` and `filesystem.write.allow`; "
                          "`aasm init` writes a policy to start from");
  }
  const std::string where =
      looked_in.empty() ? std::string() : ": there is none at " + listed(looked_in);
  return launch_refusal(LaunchRefusal::kPolicyUnconfigured, "no policy was found" + where,
                        "write one with `aasm init`, or name one with --policy FILE");
}

Refusal refuse_policy_load_failed(const std::string& error) {
  return launch_refusal(
      LaunchRefusal::kPolicyLoadFailed,
      "the policy could not be loaded, and no other is taken in its place:\n" + error,
      "correct what is named above; `aasm policy check` reads a policy without running anything");
}

Refusal refuse_policy_permissive(const PolicyView& policy) {
  return launch_refusal(
      LaunchRefusal::kPolicyPermissive,
      source_name(policy) + " allows everything it speaks of, so there is no boundary to build",
      "state what the program may read and write, or pass `--isolation none` to "
      "run without a boundary and have the record say so");
}

Refusal refuse_no_requirements(const PolicyView& policy) {
  return launch_refusal(LaunchRefusal::kNoRequirements,
                        source_name(policy) +
                            " leads to no requirement on any of the nine domains; an empty list "
                            "of requirements is not a boundary",
                        "state at least `filesystem.read.allow` and `filesystem.write.allow`");
}

Refusal refuse_filesystem_not_stated(const PolicyView& policy, bool read_stated,
                                     bool write_stated) {
  const std::string missing = read_stated    ? "`filesystem.write`"
                              : write_stated ? "`filesystem.read`"
                                             : "`filesystem.read` and `filesystem.write`";
  return launch_refusal(LaunchRefusal::kFilesystemNotStated,
                        source_name(policy) + " does not state " + missing +
                            "; with isolation, what may be read and what may be written both have "
                            "to be said",
                        "add `allow:` lists for " + missing +
                            "; an empty list permits nothing, and `aasm init` writes one "
                            "that suits this machine");
}

Refusal refuse_grant_covers_evidence(const schema::PolicyRule& rule,
                                     const std::vector<std::string>& covered,
                                     const PolicyView& policy) {
  return launch_refusal(LaunchRefusal::kGrantCoversEvidence,
                        grant_of(rule, policy) + ", which covers " + listed(covered) +
                            ": ledger, keys and trust are out of a program's reach, or its record "
                            "would be its own",
                        "grant narrower directories that do not hold these files, start from "
                        "another working directory, or move them with AASM_HOME");
}

Refusal refuse_evidence_hard_linked(const std::string& path, std::uint64_t links) {
  return launch_refusal(LaunchRefusal::kGrantCoversEvidence,
                        quoted_display(path) + " has " + std::to_string(links) +
                            " names (hard links), and where the others are cannot be found, so no "
                            "grant can be shown to leave it out",
                        "remove the other names, or copy the file to one that has a single name");
}

Refusal refuse_grant_covers_control(const schema::PolicyRule& rule,
                                    const std::vector<std::string>& covered,
                                    const PolicyView& policy) {
  return launch_refusal(LaunchRefusal::kGrantCoversControl,
                        grant_of(rule, policy) + ", which covers " + listed(covered) +
                            ": the program could change what confines the next run",
                        "grant narrower directories, or keep the policy and aasm where the program "
                        "does not write (--policy FILE names a policy elsewhere)");
}

Refusal refuse_grant_covers_groups(const schema::PolicyRule& rule,
                                   const std::vector<std::string>& covered,
                                   const PolicyView& policy) {
  return launch_refusal(
      LaunchRefusal::kGrantCoversControl,
      grant_of(rule, policy) + ", which covers the control groups at " + listed(covered) +
          ": there `resources.memory_bytes` is kept, and the program could raise its own limit or "
          "leave the group that has it",
      "grant narrower directories that do not hold control groups, or leave "
      "`resources.memory_bytes` out");
}

Refusal refuse_descriptor_of_evidence(std::int64_t number, const std::string& path) {
  return launch_refusal(LaunchRefusal::kGrantCoversEvidence,
                        "descriptor " + std::to_string(number) +
                            ", which the program would inherit, refers to " + quoted_display(path) +
                            ": ledger, keys and trust are out of a program's reach, also by a "
                            "descriptor that is open already",
                        "close the descriptor, or redirect it elsewhere, when you start aasm");
}

Refusal refuse_descriptor_of_control(std::int64_t number, const std::string& path) {
  return launch_refusal(LaunchRefusal::kGrantCoversControl,
                        "descriptor " + std::to_string(number) +
                            ", which the program would inherit, is open for writing on " +
                            quoted_display(path) +
                            ": the program could change what confines the next run",
                        "close the descriptor, or redirect it elsewhere, when you start aasm");
}

Refusal refuse_program_not_found(const std::string& program) {
  return launch_refusal(LaunchRefusal::kProgramNotFound,
                        "there is no program " + quoted_display(program) + " here or along PATH",
                        "check the spelling, or give the path of the program");
}

Refusal refuse_program_not_executable(const std::string& program, const std::string& reason) {
  return launch_refusal(LaunchRefusal::kProgramNotExecutable,
                        quoted_display(program) + " cannot be executed: " + displayed(reason),
                        "make it executable (chmod +x), or name its interpreter before it");
}

Refusal refuse_nested_run() {
  return launch_refusal(LaunchRefusal::kNestedRunUnsupported,
                        "this is already inside a run of aasm, and a run inside a run is not built "
                        "yet: it would have no key of its own to record with",
                        "start the program directly, it stays inside the boundary of the outer "
                        "run; or start the second run from outside");
}

std::string advice_for(schema::RunEnding ending) {
  switch (ending) {
    case schema::RunEnding::kFinished:
      return {};
    case schema::RunEnding::kRefused:
      return "each reason above says what to do";
    case schema::RunEnding::kPrepareFailed:
      return "the boundary could not be built as planned; `aasm backends probe` shows what this "
             "host gives, and the step above names what failed";
    case schema::RunEnding::kCanaryFailed:
      return "a forbidden action was not refused inside the boundary, so the program was not "
             "started; run `aasm backends probe`, and report this host if the probe says that it "
             "is refused";
    case schema::RunEnding::kSelfProtectionFailed:
      return "aasm's own files or processes could be reached from inside; move AASM_HOME out of "
             "what the policy grants, and run `aasm backends probe`";
    case schema::RunEnding::kExecFailed:
      return "the kernel would not execute the program inside the boundary: the policy has to "
             "grant reading and executing it, its interpreter and its libraries; a file with "
             "capabilities (getcap) that the boundary takes away is executed by a copy only";
    case schema::RunEnding::kEvidenceFailure:
      return "make room or restore access where the ledger is, then run `aasm verify`";
  }
  return {};
}

std::string advice_for_failed_boundary() {
  return "`aasm verify` shows what was recorded until then; run it again, and when nobody ended a "
         "process of aasm, report what is named above";
}

}  // namespace aasm::planner
