#include "parse_commands.h"

namespace aasm::cli {
namespace {

constexpr const char* kExplainExamples = R"(
Examples:
  aasm policy explain ~/.ssh/id_ed25519                 may a run here read it, and why not
  aasm policy explain ./build --operation create        make a file there
  aasm policy explain api.example.com:443 ptrace        a host, and a system call

Exit status: 0 answered, 1 the policy does not load or something has no answer, 2 usage.)";

void add_explain(Commands& all, CLI::App& policy) {
  CLI::App* explain =
      policy.add_subcommand("explain", "What would happen, and which line of the policy says so");
  PolicyExplainCommand& command = all.policy_explain;
  add_common(*explain, command.common);
  explain->add_option("what", command.what, "PATH (with a slash in it), HOST[:PORT] or SYSCALL")
      ->required();
  explain->add_option("--policy", command.file, "Policy [the one a run here would have]")
      ->type_name("FILE");
  explain->add_option("--workdir", command.workdir, "Directory the run would be in")
      ->type_name("DIR");
  explain
      ->add_option("--operation", command.operation,
                   "read, write, execute, create, remove, connect or resolve [all]")
      ->check(CLI::IsMember(
          {"read", "write", "execute", "create", "remove", "connect", "resolve", "call", "exceed"}))
      ->option_text("OPERATION");
  explain->footer(kExplainExamples);
  add_leaf(all, explain, [](Commands& c) { return Command(c.policy_explain); });
}

void add_policy_check(Commands& all, CLI::App& policy) {
  CLI::App* check =
      policy.add_subcommand("check", "What a policy says here, what is wrong and what is risky");
  PolicyCheckCommand& command = all.policy_check;
  add_common(*check, command.common);
  check->add_option("file,--policy", command.file, "A policy [the one a run here would have]")
      ->type_name("FILE");
  check->add_option("--workdir", command.workdir, "Directory the run would be in")
      ->type_name("DIR");
  check->add_flag("--strict", command.strict, "Fail on warnings too");
  check->footer(
      "Exit status: 0 a run would start, 1 it would be refused (with --strict, or there is a\n"
      "warning), 2 usage.");
  add_leaf(all, check, [](Commands& c) { return Command(c.policy_check); });
}

void add_policy_init(Commands& all, CLI::App& policy) {
  CLI::App* init = policy.add_subcommand("init", "Write a policy that fits this machine and place");
  PolicyInitCommand& command = all.policy_init;
  add_common(*init, command.common);
  init->add_option("--output", command.output, "A file that is not there yet [standard output]")
      ->type_name("FILE");
  init->add_option("--workdir", command.workdir, "Directory the runs will be in")->type_name("DIR");
  init->footer("Exit status: 0 written, 1 not written, 2 usage.");
  add_leaf(all, init, [](Commands& c) { return Command(c.policy_init); });
}

constexpr const char* kLearnExamples = R"(
Examples:
  aasm run exec --observe -- ./agent                    let through what the policy refuses
  aasm policy learn 0192 --output learned.diff          what would allow it, as a change to read
  patch ~/.aasm/policy.yaml learned.diff                once it has been read

Nothing is granted by this command. What is dangerous is listed as not proposed, with the reason.
Exit status: 0 written, 1 not written (also when the ledger does not verify), 2 usage.)";

void add_policy_learn(Commands& all, CLI::App& policy) {
  CLI::App* learn = policy.add_subcommand(
      "learn", "What a policy lacks for recorded runs to be allowed, as a unified diff");
  PolicyLearnCommand& command = all.policy_learn;
  add_common(*learn, command.common);
  learn->add_option("run", command.runs, "Ids of runs, or the begin of one")->required();
  learn->add_option("--policy", command.file, "The policy to change [that of the runs]")
      ->type_name("FILE");
  learn->add_option("--output", command.output, "Where the diff goes [standard output]")
      ->type_name("FILE");
  learn->footer(kLearnExamples);
  add_leaf(all, learn, [](Commands& c) { return Command(c.policy_learn); });
}

}  // namespace

void build_policy(Commands& all) {
  CLI::App* policy = all.app.add_subcommand("policy", "Policy documents");
  policy->require_subcommand(1);
  add_explain(all, *policy);
  add_policy_init(all, *policy);
  add_policy_check(all, *policy);
  add_policy_learn(all, *policy);
}

}  // namespace aasm::cli
