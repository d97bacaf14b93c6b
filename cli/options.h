#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "aasm/planner/execution_spec.h"
#include "aasm/schema/vocabulary.h"

// The command line as values. parse.cc is the only file that knows the option parser.
namespace aasm::cli {

enum class Format { kText, kJson };

// Options that every command takes.
struct CommonOptions {
  std::string ledger;  // empty: $AASM_HOME/ledger.db
  std::string trust;   // empty: $AASM_HOME/trust; FILE.keys is read beside FILE
  Format format = Format::kText;
};

struct InitCommand {
  CommonOptions common;
  std::string org;
};

struct RunCommand {
  CommonOptions common;
  std::string policy;
  schema::IsolationClass isolation = schema::IsolationClass::kAuto;
  std::string backend;  // empty: not pinned
  planner::EnforcementMode mode = planner::EnforcementMode::kEnforce;
  bool dry_run = false;
  std::string workdir;  // empty: the present one
  std::string agent_id;
  std::string team_id;
  std::string root_agent;
  std::string governance_level;
  std::string receipt;
  std::string report;
  std::optional<int> status_fd;
  std::vector<std::string> argv;  // the program and its arguments, untouched
  // When the options were about to be read: the begin of the times on the status line.
  std::chrono::steady_clock::time_point began = std::chrono::steady_clock::now();
};

struct VerifyCommand {
  CommonOptions common;
  std::string target;  // empty: the ledger
  std::string run;     // empty: the whole file
  bool require_close = false;
  bool allow_open = false;
  std::string state;
  std::string expect_head;
  std::string keep_notes;  // a directory; empty: nowhere
  std::string report;
  std::int64_t deadline_seconds = 0;  // 0: none
  std::uint64_t max_size = 0;         // 0: the verifier's default
};

struct RunsListCommand {
  CommonOptions common;
  std::size_t limit = 50;
};

struct RunsShowCommand {
  CommonOptions common;
  std::string run;  // a run id, or a prefix that only one run has
};

struct LedgerStatusCommand {
  CommonOptions common;
};

struct KeyListCommand {
  CommonOptions common;
};

// rotate and replace.
struct KeyChangeCommand {
  CommonOptions common;
  bool replace = false;
  std::string which;     // host, log, or (replace) both
  std::string root_dir;  // where root.key is; empty: $AASM_HOME/keys
};

struct KeyRevokeCommand {
  CommonOptions common;
  std::string key;  // a key id, or a prefix that only one key has
  std::optional<std::uint64_t> limit;
  bool close_ledger = false;
  std::string root_dir;
};

struct BackendsCommand {
  CommonOptions common;
  bool probe = false;
};

struct PolicyExplainCommand {
  CommonOptions common;
  std::string file;               // empty: the policy a run here would have
  std::string workdir;            // empty: the present one
  std::string operation;          // empty: every one there is
  std::vector<std::string> what;  // PATH, HOST[:PORT] or SYSCALL
};

// The file of these is the policy a run here would have when it is not named.
struct PolicyCheckCommand {
  CommonOptions common;
  std::string file;
  std::string workdir;  // empty: the present one
  bool strict = false;
};

struct PolicyInitCommand {
  CommonOptions common;
  std::string output;   // empty: standard output
  std::string workdir;  // empty: the present one
};

struct PolicyLearnCommand {
  CommonOptions common;
  std::vector<std::string> runs;  // ids, or prefixes that only one run has
  std::string file;               // empty: the policy of the runs
  std::string output;             // empty: standard output
};

using Command = std::variant<InitCommand, RunCommand, VerifyCommand, RunsListCommand,
                             RunsShowCommand, LedgerStatusCommand, KeyListCommand, KeyChangeCommand,
                             KeyRevokeCommand, BackendsCommand, PolicyCheckCommand,
                             PolicyExplainCommand, PolicyInitCommand, PolicyLearnCommand>;

// Help and version texts, or a usage error: nothing is to be run.
struct ParseMessage {
  int exit_status = 0;
  std::string text;
  bool to_stderr = false;
};

// `args` without the program's name. The list is cut at `--` before options are looked at, so that
// what follows is the program's.
std::variant<Command, ParseMessage> parse_command_line(std::vector<std::string> args);

}  // namespace aasm::cli
