#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "aasm/crypto/prepare.h"
#include "aasm/ledger/init.h"
#include "aasm/ledger_format/trust.h"
#include "aasm/planner/starter.h"
#include "aasm/schema/utf8.h"
#include "aasm/sqlite/connection.h"

#include "commands.h"
#include "exit_status.h"
#include "home.h"
#include "output_file.h"
#include "policy_in_use.h"
#include "print.h"
#include "version.h"

namespace aasm::cli {
namespace {

using schema::Error;
using schema::ErrorCode;
using schema::Result;

Result<void> make_private_directory(const std::string& path) {
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    return process::system_error("cannot make " + path + " (AASM_HOME names another place)", errno);
  }
  struct stat info {};
  if (stat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != geteuid()) {
    return Error(ErrorCode::kPermissionDenied, path + " is not a directory of this user");
  }
  if ((info.st_mode & 077U) != 0 && chmod(path.c_str(), 0700) != 0) {
    return process::system_error("cannot make private: " + path, errno);
  }
  return {};
}

Result<void> write_once(const std::string& path, const std::string& content) {
  if (access(path.c_str(), F_OK) == 0) {
    return {};
  }
  return AASM_TRY(OutputFile::open(path)).write(content);
}

// The pins that `verify` uses here, and that a colleague needs elsewhere.
Result<void> write_trust(const Home& home, const ledger::InitReport& made) {
  using ledger_format::NoteKeyType;
  using ledger_format::VerifierKey;
  ledger_format::TrustPolicy policy;
  policy.logs.push_back(
      {AASM_TRY(VerifierKey::make(made.origin, NoteKeyType::kEd25519, made.log)), ""});
  ledger_format::TrustKeys pins;
  pins.roots.push_back(
      {made.origin, AASM_TRY(VerifierKey::make(made.origin, NoteKeyType::kEd25519, made.root))});
  // In this order: `trust` without `trust.keys` is a trust file that cannot be used, and nothing at
  // all is one that `verify` does without.
  AASM_TRY(write_once(home.trust_keys(), ledger_format::format_trust_keys(pins)));
  return write_once(home.trust(), ledger_format::format_trust_policy(policy));
}

// A ledger keeps the origin it was made with.
std::string kept_origin(const InitCommand& command, const ledger::InitReport& made) {
  if (command.org.empty() || made.origin.starts_with(command.org + "/")) {
    return "";
  }
  return "note    --org " + schema::escape_for_display(command.org) +
         " changes nothing: the ledger keeps its origin; AASM_HOME names another place for a new"
         " one\n";
}

Result<std::string> initialise(const InitCommand& command) {
  const Home home = AASM_TRY(Home::locate());
  const std::string ledger =
      command.common.ledger.empty() ? home.ledger() : absolute_path(command.common.ledger);
  // Before anything is made: keys without a ledger would be half a home.
  if (ledger.size() > sqlite::kMaxPathBytes) {
    return Error(ErrorCode::kInvalidArgument,
                 "the path of the ledger would have " + std::to_string(ledger.size()) +
                     " bytes and SQLite opens at most " + std::to_string(sqlite::kMaxPathBytes) +
                     "; set AASM_HOME to a shorter one");
  }
  AASM_TRY(make_private_directory(home.root()));
  AASM_TRY(make_private_directory(home.canary()));
  const ledger::InitReport made = AASM_TRY(ledger::initialise(
      home.root(), ledger::LedgerPaths::with_ledger(home.root(), ledger), {command.org, kVersion}));
  AASM_TRY(write_trust(home, made));
  AASM_TRY(write_once(home.policy(),
                      planner::starter_policy(planner::path_exists,
                                              planner::survey_workspace(workspace_host("")))));
  const auto shown = [](const std::string& path) { return schema::escape_for_display(path); };
  return "home    " + shown(home.root()) + "\norigin  " + made.origin + "\nledger  " +
         shown(ledger) + (made.ledger_created ? " (new)" : " (was there)") + "\npolicy  " +
         shown(home.policy()) + "\ntrust   " + shown(home.trust()) + " and " +
         shown(home.trust_keys()) + ": give both to whoever verifies elsewhere\n" +
         kept_origin(command, made) + "next    aasm run exec -- PROG\n";
}

}  // namespace

int run_init(const InitCommand& command) {
  crypto::prepare();
  // The modes of what is made here are stated one by one; a caller's umask of 0777 would leave
  // directories that nobody can enter.
  umask(022);
  Result<std::string> said = initialise(command);
  if (!said) {
    print_err(error_line(said.error()));
    return kExitFailed;
  }
  print_out(*said);
  return kExitOk;
}

}  // namespace aasm::cli
