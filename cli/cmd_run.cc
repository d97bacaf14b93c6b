#include <fcntl.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <mutex>
#include <optional>

#include "aasm/backends/unconfined.h"
#include "aasm/claims/report.h"
#include "aasm/crypto/prepare.h"
#include "aasm/crypto/random.h"
#include "aasm/launcher/session.h"
#include "aasm/launcher/status_line.h"
#include "aasm/planner/refusal.h"
#include "aasm/schema/json_write.h"
#include "aasm/schema/utf8.h"

#include "commands.h"
#include "dry_run.h"
#include "earlier_probes.h"
#include "exit_status.h"
#include "inherited.h"
#include "launch.h"
#include "opening_ledger.h"
#include "output_file.h"
#include "own_files.h"
#include "print.h"
#include "refusal_text.h"
#include "run_ledger.h"

namespace aasm::cli {
namespace {

using schema::Error;
using schema::Result;

// The run's facts as they are recorded, for the live report: the same function that `verify` uses
// derives the claims from them.
class LiveFacts {
 public:
  explicit LiveFacts(std::string boot) : boot_(std::move(boot)) {}

  void add(const schema::RecordBody& body) { facts_.add(seq_++, boot_, true, body); }
  claims::RunFacts& facts() { return facts_; }

 private:
  claims::RunFacts facts_;
  std::string boot_;
  // Made-up numbers, past every record of the ledger that an earlier probe may stand in.
  std::int64_t seq_ = std::int64_t{1} << 40U;
};

struct Outputs {
  std::optional<OutputFile> receipt;
  std::optional<OutputFile> report;
  bool to_terminal = false;  // one screen of the report, unless there is a file for it

  bool want_report() const { return report || to_terminal; }
};

Result<Outputs> open_outputs(const RunCommand& command) {
  Outputs outputs;
  if (!command.receipt.empty()) {
    outputs.receipt = AASM_TRY(OutputFile::open(command.receipt));
  }
  if (!command.report.empty()) {
    outputs.report = AASM_TRY(OutputFile::open(command.report));
  }
  outputs.to_terminal = command.common.format == Format::kText && isatty(STDERR_FILENO) != 0;
  return outputs;
}

// Names given on the command line are relative to where the user stands, not to --workdir.
RunCommand with_absolute_paths(RunCommand command) {
  for (std::string* path : {&command.policy, &command.receipt, &command.report,
                            &command.common.ledger, &command.common.trust}) {
    if (!path->empty()) {
      *path = absolute_path(*path);
    }
  }
  return command;
}

Result<schema::RunId> new_run_id() {
  std::array<std::uint8_t, 10> random{};
  AASM_TRY(crypto::random_bytes(random));
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  return schema::RunId::make(static_cast<std::uint64_t>(ms), random);
}

std::string report_text(const claims::IsolationReport& report, Format format) {
  if (format == Format::kJson) {
    return json_line(claims::render_json(report));
  }
  return claims::render_summary(report) + "\n" + claims::render_human(report) + "\n" +
         claims::render_machine(report);
}

// What was asked for as evidence and is not there is said, and is the run's exit status.
bool is_written(const Result<void>& done, const char* option) {
  if (!done) {
    print_err(error_line(done.error()) + "  " + option +
              " is not written; the run itself is on record: `aasm runs list`, `aasm verify`\n");
  }
  return done.has_value();
}

// To --report FILE, or one screen of it to the terminal when stderr is one.
bool write_report(const Outputs& outputs, const RunCommand& command,
                  const launcher::SessionEnd& end, const claims::RunFacts& facts,
                  const schema::RunId& run) {
  const claims::IsolationReport report =
      claims::build_report(facts, claims::derive(facts), run.text());
  if (outputs.report) {
    return is_written(outputs.report->write(report_text(report, command.common.format)),
                      "--report");
  }
  if (end.program_started) {
    print_err("\n" + claims::render_summary(report));
  }
  return true;
}

bool write_receipt(const Outputs& outputs, const RunLedger& ledger, const launcher::SessionEnd& end,
                   const schema::RunId& run) {
  if (!outputs.receipt || !end.closed) {
    return true;  // of a run that could not be closed more is said than this
  }
  const Result<std::string> receipt = ledger.receipt(run);
  return is_written(receipt ? outputs.receipt->write(*receipt) : Result<void>(receipt.error()),
                    "--receipt");
}

void write_status(const RunCommand& command, const launcher::SessionEnd& end,
                  const std::optional<schema::RunId>& run) {
  if (command.status_fd) {
    const std::string line = launcher::status_line(end, run);
    [[maybe_unused]] const ssize_t wrote = write(*command.status_fd, line.data(), line.size());
  }
}

// An ending before there is a run to record it in.
int refuse(const RunCommand& command, const Error& error, int status) {
  print_err(error_line(error));
  launcher::SessionEnd end;
  end.ending = status == kExitEvidenceFailure ? schema::RunEnding::kEvidenceFailure
                                              : schema::RunEnding::kRefused;
  write_status(command, end, std::nullopt);
  return status;
}

int refuse_ledger(const RunCommand& command, const Error& error) {
  // Inside a run the ledger is out of reach, and to make another one would not help.
  if (is_refused_as_nested(command)) {
    schema::PlanRefused refused;
    refused.refusals = {planner::refuse_nested_run()};
    print_err(refused_text(refused));
    write_status(command, {}, std::nullopt);
    return kExitRefused;
  }
  return refuse(command, error,
                error.code() == schema::ErrorCode::kNotFound ? kExitRefused : kExitEvidenceFailure);
}

planner::PlanningOutcome plan_live(const RunCommand& command, const Launch& launch,
                                   EarlierProbes& earlier, OpeningLedger& opening) {
  return plan_launch(launch, command,
                     [&](planner::Backend& backend) -> Result<schema::CapabilityProbed> {
                       opening.wait_readable();
                       auto found = earlier.find(backend.identity().id, launch.conditions);
                       if (found && *found) {
                         return std::move(**found);
                       }
                       // What goes on record is measured only once there is a ledger to record it.
                       if (const auto& ledger = opening.wait(); !ledger) {
                         return ledger.error();
                       }
                       // A ledger that was just being recovered can be read by now.
                       if (!found) {
                         found = earlier.find(backend.identity().id, launch.conditions);
                       }
                       if (!found) {
                         return std::move(found).error();
                       }
                       if (*found) {
                         return std::move(**found);
                       }
                       return probe_backend(backend, launch.conditions, launch.helper_path);
                     });
}

// All of it that is known before the run has a name.
launcher::SessionRequest session_request(const RunCommand& command, const Launch& launch,
                                         planner::PlanningOutcome outcome) {
  launcher::SessionRequest request;
  request.policy = launch.policy.record;
  request.policy_document = launch.policy.bytes;
  for (std::size_t i = 1; request.policy.extends && i < launch.policy.documents.size(); ++i) {
    request.extended_documents.push_back(launch.policy.documents[i].bytes);
  }
  request.probes = std::move(outcome.probes);
  request.plan = std::move(outcome.record);
  request.backend = outcome.backend;
  request.unconfined = backend_native::prepare_unconfined;
  request.began = command.began;
  request.launch.spec = launch.spec;
  request.launch.argv = command.argv;
  request.launch.environment = launch.environment.environment;
  request.launch.descriptors = launch.environment.descriptors;
  request.launch.protect = launch.protect;
  request.launch.helper_path = launch.helper_path;
  return request;
}

int live_run(const RunCommand& command, const Launch& launch, planner::PlanningOutcome outcome,
             const EarlierProbes& earlier, RunLedger& ledger) {
  Result<Outputs> outputs = open_outputs(command);
  if (!outputs) {
    return refuse(command, outputs.error(), kExitRefused);
  }
  const Result<schema::RunId> run = new_run_id();
  const Result<schema::RunOpened> opened = opened_body(launch, command);
  if (!run || !opened) {
    return refuse(command, run ? opened.error() : run.error(), kExitRefused);
  }
  std::optional<LiveFacts> live;  // where there is to be a report of them
  if (outputs->want_report()) {
    live.emplace(launch.conditions.boot_id);
  }
  launcher::SessionRequest request = session_request(command, launch, std::move(outcome));
  request.run = *run;
  request.opened = *opened;
  request.probes = earlier.as_recorded(std::move(request.probes), live ? &live->facts() : nullptr);
  if (live) {
    request.observer = [&live](const schema::RecordBody& body) { live->add(body); };
  }
  const std::string own_ledger =
      command.common.ledger.empty() ? launch.home.ledger() : command.common.ledger;
  const OwnFiles before = OwnFiles::look(launch.home, own_ledger);
  request.notice = [&] { return before.change(); };
  request.settle = [&ledger] { ledger.settle(); };
  if (!outputs->receipt) {
    ledger.close_when_done();
  }
  launcher::SessionEnd end = launcher::run_session(ledger.sink(), std::move(request));
  const bool reported = !live || write_report(*outputs, command, end, live->facts(), *run);
  end.proof_lost = !write_receipt(*outputs, ledger, end, *run) || !reported;
  if (!end.notice.empty()) {
    print_err("warning: " + end.notice + "\n");
  }
  print_err(ending_text(end));
  write_status(command, end, *run);
  return launcher::exit_status(end);
}

// The ledger is opened while the launch is planned. What is wrong with it is said first all the
// same. The planner looks at the ledger's files meanwhile: those that opening makes (-wal and -shm
// of a first run) it may find missing, which only says that no other name leads to them.
int record_run(const RunCommand& command, const Home& home, const Inherited& inherited,
               process::DigestCache& digests, OpeningLedger& opening) {
  Result<Launch> launch = gather_launch(command, home, digests);
  EarlierProbes earlier(ledger_paths(home, command.common));
  std::optional<planner::PlanningOutcome> outcome;
  if (launch) {
    add_inherited(inherited, command, *launch);
    outcome = plan_live(command, *launch, earlier, opening);
  }
  Result<RunLedger>& ledger = opening.wait();
  if (!ledger) {
    return refuse_ledger(command, ledger.error());
  }
  if (!launch) {
    return refuse(command, launch.error(), kExitRefused);
  }
  // A cache that cannot be kept costs time, never evidence.
  [[maybe_unused]] const Result<void> saved = digests.save();
  return live_run(command, *launch, std::move(*outcome), earlier, *ledger);
}

Result<void> check_status_fd(const RunCommand& command) {
  if (command.status_fd && *command.status_fd <= STDERR_FILENO) {
    return Error(schema::ErrorCode::kInvalidArgument,
                 "--status-fd takes 3 or more: 0, 1 and 2 are the program's");
  }
  if (command.status_fd && fcntl(*command.status_fd, F_GETFD) < 0) {
    return Error(schema::ErrorCode::kInvalidArgument, "--status-fd is not open", errno);
  }
  return {};
}

Result<void> dry_run(const RunCommand& command, const Home& home, const Inherited& inherited,
                     process::DigestCache& digests) {
  Launch launch = AASM_TRY(gather_launch(command, home, digests));
  add_inherited(inherited, command, launch);
  const auto outcome = plan_launch(launch, command, [&](planner::Backend& backend) {
    return probe_backend(backend, launch.conditions, launch.helper_path);
  });
  if (command.common.format == Format::kJson) {
    print_json(AASM_TRY(dry_run_json(launch, command, outcome)));
  } else {
    print_out(AASM_TRY(render_dry_run(launch, command, outcome)));
  }
  return {};
}

// The supervisor holds the caller's environment and arguments: no core file of it. The helper sets
// the program's limit by itself; without a boundary the program keeps the caller's.
void forbid_core_file(const RunCommand& command) {
  rlimit limit{};
  if (command.isolation != schema::IsolationClass::kNone && ::getrlimit(RLIMIT_CORE, &limit) == 0) {
    limit.rlim_cur = 0;
    ::setrlimit(RLIMIT_CORE, &limit);
  }
}

// Heaps that grow in large steps: the first of a run would else grow page by page.
void set_up_heap() {
  constexpr int kStepBytes = 512 * 1024;
  ::mallopt(M_TOP_PAD, kStepBytes);
}

}  // namespace

int run_exec(const RunCommand& given) {
  set_up_heap();
  forbid_core_file(given);
  crypto::prepare();
  const RunCommand command = with_absolute_paths(given);
  // Without a usable descriptor there is nowhere to write the status line.
  if (const Result<void> usable = check_status_fd(command); !usable) {
    print_err(error_line(usable.error()));
    return kExitRefused;
  }
  Result<Home> home = Home::locate();
  if (!home) {
    return refuse(command, home.error(), kExitRefused);
  }
  // It takes longest. What it opens is close-on-exec, and not listed as inherited for that.
  std::optional<OpeningLedger> opening;
  if (!command.dry_run) {
    opening.emplace(*home, command.common);
  }
  const Inherited inherited = take_inherited();
  if (command.status_fd) {
    fcntl(*command.status_fd, F_SETFD, FD_CLOEXEC);
  }
  process::DigestCache digests = process::DigestCache::load(home->file("digests"));
  if (opening) {
    return record_run(command, *home, inherited, digests, *opening);
  }
  const Result<void> done = dry_run(command, *home, inherited, digests);
  return done ? kExitOk : refuse(command, done.error(), kExitRefused);
}

}  // namespace aasm::cli
