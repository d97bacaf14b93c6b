#pragma once

#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "options.h"

// The description of the command line for CLI11, group by group. Exceptions of CLI11 stay in
// parse.cc.
namespace aasm::cli {

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
  PolicyLearnCommand policy_learn;
  std::vector<std::pair<CLI::App*, Command (*)(Commands&)>> leaves;
};

// `make` gives the command when `app` was the one on the line.
void add_leaf(Commands& all, CLI::App* app, Command (*make)(Commands&));
void add_common(CLI::App& app, CommonOptions& common);

void build_key(Commands& all);
void build_policy(Commands& all);

}  // namespace aasm::cli
