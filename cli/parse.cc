#include <algorithm>
#include <memory>

#include <CLI/CLI.hpp>

#include "aasm/schema/utf8.h"

#include "exit_status.h"
#include "not_built.h"
#include "options.h"
#include "version.h"

namespace aasm::cli {
namespace {

constexpr const char* kRunExamples = R"(
Examples:
  aasm run exec -- python3 agent.py
  aasm run exec --dry-run -- python3 agent.py          see the plan, start nothing
  aasm run exec --policy p.yaml --receipt r.txt -- make test

Exit status: the program's own (128+n for signal n); 125 refused before the start, 126 found but
not executable, 127 not found, 124 wall clock, 122 evidence could not be written.)";

constexpr const char* kVerifyExamples = R"(
Examples:
  aasm verify                                 this host's ledger, with this host's trust files
  aasm verify receipt.txt --trust trust       a receipt, with pinned keys (trust and trust.keys)
  aasm verify --run 0192 --format json        one run, as JSON

Exit status: 0 VERIFIED, 1 FAILED, 2 USAGE, 3 INCONCLUSIVE, 4 UNREADABLE.)";

constexpr const char* kKeyExamples = R"(
Keys: the root certifies a host key, which signs openings of runs, and a log key, which signs
checkpoints. After a change of the log key give the new 'trust' file to whoever verifies elsewhere.

Examples:
  aasm key list                        the keys this ledger has and had
  aasm key rotate host                 a new key, vouched for by the old one
  aasm key replace host --root /mnt/k  the old one was lost or stolen: by the word of root.key
  aasm key revoke 3f2a                 and from where it was retired it does not count

Exit status: 0 done, 1 refused or failed, 2 usage.)";

constexpr const char* kExplainExamples = R"(
Examples:
  aasm policy explain ~/.ssh/id_ed25519                 may a run here read it, and why not
  aasm policy explain ./build --operation create        make a file there
  aasm policy explain api.example.com:443 ptrace        a host, and a system call

Exit status: 0 answered, 1 the policy does not load or something has no answer, 2 usage.)";

void add_common(CLI::App& app, CommonOptions& common) {
  app.add_option("--ledger", common.ledger, "Ledger file [$AASM_HOME/ledger.db]")
      ->type_name("FILE");
  app.add_option("--trust", common.trust, "Trust file; FILE.keys beside it [$AASM_HOME/trust]")
      ->type_name("FILE");
  const std::map<std::string, Format> formats{{"text", Format::kText}, {"json", Format::kJson}};
  app.add_option("--format", common.format, "text or json [text]")
      ->type_name("FORMAT")
      ->transform(CLI::Transformer(formats))
      ->option_text("FORMAT");
}

void add_run_options(CLI::App& app, RunCommand& run) {
  add_common(app, run.common);
  app.add_option("--policy", run.policy, "Policy document")->type_name("FILE");
  std::map<std::string, schema::IsolationClass> classes;
  for (const auto& entry : schema::EnumNames<schema::IsolationClass>::kTokens) {
    classes.emplace(entry.second, entry.first);
  }
  app.add_option("--isolation", run.isolation,
                 "none, auto, process, userspace-kernel or microvm [auto]")
      ->transform(CLI::Transformer(classes))
      ->option_text("CLASS");
  app.add_option("--isolation-backend", run.backend, "Pin a backend by id; see 'backends list'")
      ->type_name("ID");
  app.add_flag("--dry-run", run.dry_run, "Print the plan; start and record nothing");
  app.add_option("--workdir", run.workdir, "Directory to run in")->type_name("DIR");
  app.add_option("--agent-id", run.agent_id, "Identity of the agent, as you assert it");
  app.add_option("--team-id", run.team_id, "Its team");
  app.add_option("--root-agent", run.root_agent, "The agent at the root of its lineage");
  app.add_option("--governance-level", run.governance_level, "Governance level, recorded as given");
  app.add_option("--receipt", run.receipt, "Write a signed receipt of the run")->type_name("FILE");
  app.add_option("--report", run.report, "Write the report of the run")->type_name("FILE");
  app.add_option("--status-fd", run.status_fd, "Write one machine-readable line at the end")
      ->type_name("N");
  app.footer(kRunExamples);
}

void add_verify_options(CLI::App& app, VerifyCommand& verify) {
  add_common(app, verify.common);
  app.add_option("file", verify.target, "A ledger or a receipt [$AASM_HOME/ledger.db]");
  app.add_option("--run", verify.run, "Verify the claims of one run")->type_name("ID");
  app.add_flag("--require-close", verify.require_close, "Interrupted runs make it INCONCLUSIVE");
  app.add_flag("--allow-open", verify.allow_open, "Unfinished runs do not count");
  app.add_option("--state", verify.state, "Remember the head seen, and check the one seen before")
      ->type_name("FILE");
  app.add_option("--expect-head", verify.expect_head, "A checkpoint note the ledger must extend")
      ->type_name("FILE");
  app.add_option("--keep-notes", verify.keep_notes, "If it is forked, keep the notes of both sides")
      ->type_name("DIR");
  app.add_option("--report", verify.report,
                 "A JSON report whose claims must be the recomputed ones")
      ->type_name("FILE");
  app.add_option("--deadline", verify.deadline_seconds,
                 "Give up after so many seconds: UNREADABLE, limit_reached")
      ->type_name("SECONDS")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1000000000}));
  app.add_option("--max-size", verify.max_size, "How large the files to copy may be [4GiB]")
      ->transform(CLI::AsSizeValue(false))
      ->option_text("SIZE");
  app.footer(kVerifyExamples);
}

// All commands with the values that parsing fills. Lives as long as parsing does.
struct Commands {
  CLI::App app{
      "aasm: runs an agent inside a boundary and keeps signed evidence of what was decided"};
  InitCommand init;
  RunCommand run;
  VerifyCommand verify;
  RunsListCommand runs_list;
  RunsShowCommand runs_show;
  LedgerStatusCommand ledger_status;
  KeyListCommand key_list;
  KeyChangeCommand key_rotate;
  KeyChangeCommand key_replace;
  KeyRevokeCommand key_revoke;
  BackendsCommand backends_list;
  BackendsCommand backends_probe;
  PolicyExplainCommand policy_explain;
  PolicyCheckCommand policy_check;
  PolicyInitCommand policy_init;
  std::vector<std::pair<CLI::App*, Command (*)(Commands&)>> leaves;
};

void add_leaf(Commands& all, CLI::App* app, Command (*make)(Commands&)) {
  all.leaves.emplace_back(app, make);
}

void build_run(Commands& all) {
  CLI::App* run = all.app.add_subcommand("run", "Run an agent inside a boundary");
  run->require_subcommand(1);
  CLI::App* exec =
      run->add_subcommand("exec", "Run any program: aasm run exec [options] -- PROG ...");
  add_run_options(*exec, all.run);
  add_leaf(all, exec, [](Commands& c) { return Command(c.run); });
}

void build_history(Commands& all) {
  CLI::App* runs = all.app.add_subcommand("runs", "Look at recorded runs (not verified)");
  runs->require_subcommand(1);
  CLI::App* list = runs->add_subcommand("list", "One line a run, newest first");
  add_common(*list, all.runs_list.common);
  list->add_option("--limit", all.runs_list.limit, "How many at most [50]")->type_name("N");
  add_leaf(all, list, [](Commands& c) { return Command(c.runs_list); });
  CLI::App* show = runs->add_subcommand("show", "The records of one run");
  add_common(*show, all.runs_show.common);
  show->add_option("run", all.runs_show.run, "Run id, or the beginning of one")->required();
  add_leaf(all, show, [](Commands& c) { return Command(c.runs_show); });

  CLI::App* ledger = all.app.add_subcommand("ledger", "The ledger itself");
  ledger->require_subcommand(1);
  CLI::App* status = ledger->add_subcommand("status", "Size, head and keys (not verified)");
  add_common(*status, all.ledger_status.common);
  add_leaf(all, status, [](Commands& c) { return Command(c.ledger_status); });
}

void add_root_option(CLI::App& app, std::string& directory) {
  app.add_option("--root", directory, "Directory with root.key [$AASM_HOME/keys]")
      ->type_name("DIR");
}

void build_key_changes(Commands& all, CLI::App* key) {
  CLI::App* rotate = key->add_subcommand("rotate", "Put a new key in the place of one you hold");
  add_common(*rotate, all.key_rotate.common);
  rotate->add_option("key", all.key_rotate.which, "host or log")
      ->required()
      ->check(CLI::IsMember({"host", "log"}));
  add_leaf(all, rotate, [](Commands& c) { return Command(c.key_rotate); });
  CLI::App* replace =
      key->add_subcommand("replace", "Put a new key in the place of one lost or stolen");
  all.key_replace.replace = true;
  add_common(*replace, all.key_replace.common);
  replace->add_option("key", all.key_replace.which, "host, log or both")
      ->required()
      ->check(CLI::IsMember({"host", "log", "both"}));
  add_root_option(*replace, all.key_replace.root_dir);
  add_leaf(all, replace, [](Commands& c) { return Command(c.key_replace); });
}

void build_key_revoke(Commands& all, CLI::App* key) {
  CLI::App* revoke = key->add_subcommand("revoke", "Say from where a retired key does not count");
  add_common(*revoke, all.key_revoke.common);
  revoke->add_option("key", all.key_revoke.key, "Key id, or the beginning of one")->required();
  revoke->add_option("--at", all.key_revoke.limit, "Tree size [where the key was retired]")
      ->type_name("SIZE");
  revoke->add_flag("--close-ledger", all.key_revoke.close_ledger,
                   "Also when the key signed past SIZE: the ledger fails from then on");
  add_root_option(*revoke, all.key_revoke.root_dir);
  revoke->footer(
      "What the key signed before SIZE is INCONCLUSIVE from then on, unless a witness had signed "
      "a\ncheckpoint over it of at most SIZE.");
  add_leaf(all, revoke, [](Commands& c) { return Command(c.key_revoke); });
}

void build_key(Commands& all) {
  CLI::App* key = all.app.add_subcommand("key", "Host and log keys: list, change, revoke");
  key->require_subcommand(1);
  key->footer(kKeyExamples);
  CLI::App* list = key->add_subcommand("list", "The keys of this ledger (not verified)");
  add_common(*list, all.key_list.common);
  add_leaf(all, list, [](Commands& c) { return Command(c.key_list); });
  build_key_changes(all, key);
  build_key_revoke(all, key);
}

void build_backends(Commands& all) {
  CLI::App* backends = all.app.add_subcommand("backends", "What can confine a program here");
  backends->require_subcommand(1);
  CLI::App* list = backends->add_subcommand("list", "The backends this program knows");
  add_common(*list, all.backends_list.common);
  add_leaf(all, list, [](Commands& c) { return Command(c.backends_list); });
  CLI::App* probe =
      backends->add_subcommand("probe", "Measure what each one prevents on this host");
  all.backends_probe.probe = true;
  add_common(*probe, all.backends_probe.common);
  add_leaf(all, probe, [](Commands& c) { return Command(c.backends_probe); });
}

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
          {"read", "write", "execute", "create", "remove", "connect", "resolve", "call"}))
      ->option_text("OPERATION");
  explain->footer(kExplainExamples);
  add_leaf(all, explain, [](Commands& c) { return Command(c.policy_explain); });
}

void add_policy_check(Commands& all, CLI::App& policy) {
  CLI::App* check =
      policy.add_subcommand("check", "What a policy says here, what is wrong and what is risky");
  PolicyCheckCommand& command = all.policy_check;
  add_common(*check, command.common);
  check->add_option("file", command.file, "A policy [the one a run here would have]");
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

void build_policy(Commands& all) {
  CLI::App* policy = all.app.add_subcommand("policy", "Policy documents");
  policy->require_subcommand(1);
  add_explain(all, *policy);
  add_policy_init(all, *policy);
  add_policy_check(all, *policy);
}

void build_init(Commands& all) {
  CLI::App* init = all.app.add_subcommand("init", "Make keys, ledger and a starter policy");
  add_common(*init, all.init.common);
  init->add_option("--org", all.init.org, "Domain that names the log's origin")
      ->type_name("DOMAIN");
  add_leaf(all, init, [](Commands& c) { return Command(c.init); });
}

void build_verify(Commands& all) {
  CLI::App* verify = all.app.add_subcommand("verify", "Recompute every claim from the records");
  add_verify_options(*verify, all.verify);
  add_leaf(all, verify, [](Commands& c) { return Command(c.verify); });
}

bool is_run_exec(const std::vector<std::string>& args) {
  return args.size() >= 2 && args[0] == "run" && args[1] == "exec";
}

// Describing every command costs 0.6 M instructions, which a launch need not spend: `run exec` is
// described alone, its help text and its errors being its own.
void build(Commands& all, bool only_run_exec) {
  all.app.require_subcommand(1);
  all.app.set_version_flag("--version", std::string("aasm ") + kVersion);
  all.app.footer("State lives in $AASM_HOME [~/.aasm]. Start with: aasm init");
  if (only_run_exec) {
    build_run(all);
    return;
  }
  build_init(all);
  build_run(all);
  build_verify(all);
  build_history(all);
  build_key(all);
  build_backends(all);
  build_policy(all);
}

int usage_status(const std::vector<std::string>& args) {
  return !args.empty() && args[0] == "run" ? kExitRefused : kExitUsage;
}

ParseMessage message_for(Commands& all, const CLI::ParseError& error, int usage) {
  if (error.get_exit_code() == 0) {
    std::ostringstream out;
    std::ostringstream unused;
    all.app.exit(error, out, unused);
    return {0, out.str(), false};
  }
  const std::string hint = "; see 'aasm --help' or 'aasm COMMAND --help'";
  return {usage,
          "error: " + schema::escape_for_display(error.what()) + choices_for(error.what()) + hint +
              "\n",
          true};
}

}  // namespace

std::variant<Command, ParseMessage> parse_command_line(std::vector<std::string> args) {
  std::vector<std::string> program;
  bool cut = false;
  if (is_run_exec(args)) {
    const auto at = std::find(args.begin(), args.end(), "--");
    if (at != args.end()) {
      program.assign(std::next(at), args.end());
      args.erase(at, args.end());
      cut = true;
    }
  }
  if (std::optional<std::string> missing = not_built_yet(args)) {
    return ParseMessage{kExitRefused, *std::move(missing), true};
  }
  const auto all = std::make_unique<Commands>();
  build(*all, is_run_exec(args));
  try {
    std::vector<std::string> reversed(args.rbegin(), args.rend());
    all->app.parse(reversed);
  } catch (const CLI::ParseError& error) {
    return message_for(*all, error, usage_status(args));
  }
  if (is_run_exec(args) && program.empty()) {
    const char* why =
        cut ? "error: no program after '--'" : "error: '--' is missing before the program";
    return ParseMessage{kExitRefused,
                        std::string(why) + "; write: aasm run exec [options] -- PROG [ARGS...]\n",
                        true};
  }
  all->run.argv = std::move(program);
  for (const auto& [app, make] : all->leaves) {
    if (app->parsed()) {
      return make(*all);
    }
  }
  return ParseMessage{kExitUsage, all->app.help(), true};
}

}  // namespace aasm::cli
