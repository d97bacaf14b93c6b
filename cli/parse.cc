#include <algorithm>
#include <memory>

#include <CLI/CLI.hpp>

#include "aasm/schema/utf8.h"

#include "exit_status.h"
#include "near_miss.h"
#include "not_built.h"
#include "options.h"
#include "parse_commands.h"
#include "version.h"

namespace aasm::cli {

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

void add_leaf(Commands& all, CLI::App* app, Command (*make)(Commands&)) {
  all.leaves.emplace_back(app, make);
}

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
  app.add_option("--enforcement-mode", run.mode,
                 "enforce, or observe: let through and record what policy refuses [enforce]")
      ->transform(CLI::Transformer(std::map<std::string, planner::EnforcementMode>{
          {"enforce", planner::EnforcementMode::kEnforce},
          {"observe", planner::EnforcementMode::kObserve}}))
      ->option_text("MODE");
  app.add_flag_callback(
      "--observe", [&run] { run.mode = planner::EnforcementMode::kObserve; },
      "The same as --enforcement-mode observe; see 'policy learn'");
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
  app.add_option("--expect-head", verify.expect_head,
                 "A checkpoint note, or a receipt, whose log this must extend")
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

// Below the last command that was understood.
KnownWords words_known(CLI::App& app) {
  CLI::App* last = &app;
  while (!last->get_subcommands().empty()) {
    last = last->get_subcommands().front();
  }
  KnownWords known;
  for (const CLI::App* one : last->get_subcommands([](CLI::App*) { return true; })) {
    known.commands.push_back(one->get_name());
  }
  std::sort(known.commands.begin(), known.commands.end());
  for (const CLI::Option* one : last->get_options()) {
    for (const std::string& name : one->get_lnames()) {
      known.options.push_back("--" + name);
    }
  }
  return known;
}

ParseMessage message_for(Commands& all, const CLI::ParseError& error,
                         const std::vector<std::string>& args) {
  if (error.get_exit_code() == 0) {
    std::ostringstream out;
    std::ostringstream unused;
    all.app.exit(error, out, unused);
    return {0, out.str(), false};
  }
  const std::string choices = choices_for(error.what());
  const bool no_command = !args.empty() && all.app.get_subcommands().empty() && args[0][0] != '-';
  const std::string what = no_command ? "`" + args[0] + "` is no command of aasm" : error.what();
  return {usage_status(args),
          "error: " + schema::escape_for_display(what) + choices +
              (choices.empty() ? near_miss(args, words_known(all.app)) : "") +
              "; see 'aasm --help' or 'aasm COMMAND --help'\n",
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
    return ParseMessage{usage_status(args), *std::move(missing), true};
  }
  const auto all = std::make_unique<Commands>();
  build(*all, is_run_exec(args));
  try {
    std::vector<std::string> reversed(args.rbegin(), args.rend());
    all->app.parse(reversed);
  } catch (const CLI::ParseError& error) {
    return message_for(*all, error, args);
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
