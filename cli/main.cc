#include <signal.h>

#include <string>
#include <variant>
#include <vector>

#include "commands.h"
#include "options.h"
#include "print.h"

namespace {

using namespace aasm::cli;  // NOLINT(google-build-using-namespace): the program itself

template <class... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};
template <class... Fs>
Overloaded(Fs...) -> Overloaded<Fs...>;

int dispatch(const Command& command) {
  return std::visit(Overloaded{[](const InitCommand& c) { return run_init(c); },
                               [](const RunCommand& c) { return run_exec(c); },
                               [](const VerifyCommand& c) { return run_verify(c); },
                               [](const RunsListCommand& c) { return run_runs_list(c); },
                               [](const RunsShowCommand& c) { return run_runs_show(c); },
                               [](const LedgerStatusCommand& c) { return run_ledger_status(c); },
                               [](const KeyListCommand& c) { return run_key_list(c); },
                               [](const KeyChangeCommand& c) { return run_key_change(c); },
                               [](const KeyRevokeCommand& c) { return run_key_revoke(c); },
                               [](const BackendsCommand& c) { return run_backends(c); },
                               [](const PolicyExplainCommand& c) { return run_policy_explain(c); },
                               [](const PolicyCheckCommand& c) { return run_policy_check(c); },
                               [](const PolicyInitCommand& c) { return run_policy_init(c); },
                               [](const PolicyLearnCommand& c) { return run_policy_learn(c); }},
                    command);
}

// A reader that left (SIGPIPE) or a file that may not grow (SIGXFSZ) must fail the write, which is
// handled where it is made, and not end the process that owes the run its records. A handler and
// not "ignore": what is ignored here the program would inherit, what is handled it has as default.
void let_writes_fail() {
  for (const int signal : {SIGPIPE, SIGXFSZ}) {
    struct sigaction now = {};
    if (::sigaction(signal, nullptr, &now) != 0 || now.sa_handler != SIG_DFL) {
      continue;
    }
    struct sigaction quiet = {};
    quiet.sa_handler = [](int) {};
    quiet.sa_flags = SA_RESTART;
    ::sigaction(signal, &quiet, nullptr);
  }
}

}  // namespace

// What throws here is memory that ran out. It ends the process as a crash would: the warden kills
// the tree and the ledger shows the run as interrupted, which no exit status of ours could say.
// NOLINTNEXTLINE(bugprone-exception-escape)
int main(int argc, char** argv) {
  let_writes_fail();
  const std::vector<std::string> args(argv + (argc > 0 ? 1 : 0), argv + argc);
  const auto parsed = parse_command_line(args);
  if (const auto* message = std::get_if<ParseMessage>(&parsed)) {
    message->to_stderr ? print_err(message->text) : print_out(message->text);
    return message->exit_status;
  }
  return dispatch(std::get<Command>(parsed));
}
