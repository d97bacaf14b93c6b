#pragma once

#include "options.h"

// One function a command; each returns the exit status. They print, wire and nothing else.
namespace aasm::cli {

int run_init(const InitCommand& command);
int run_exec(const RunCommand& given);
int run_verify(const VerifyCommand& command);
int run_runs_list(const RunsListCommand& command);
int run_runs_show(const RunsShowCommand& command);
int run_ledger_status(const LedgerStatusCommand& command);
int run_key_list(const KeyListCommand& command);
int run_key_change(const KeyChangeCommand& command);
int run_key_revoke(const KeyRevokeCommand& command);
int run_backends(const BackendsCommand& command);
int run_policy_explain(const PolicyExplainCommand& command);
int run_policy_check(const PolicyCheckCommand& command);
int run_policy_init(const PolicyInitCommand& command);
int run_policy_learn(const PolicyLearnCommand& command);

}  // namespace aasm::cli
