#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>

#include "aasm/ledger/reader.h"
#include "aasm/schema/utf8.h"

#include "commands.h"
#include "exit_status.h"
#include "home.h"
#include "print.h"
#include "runs_reader.h"

namespace aasm::cli {
namespace {

using schema::Error;
using schema::ErrorCode;
using schema::JsonValue;
using schema::Result;

constexpr const char* kNotVerified =
    "not verified: this is what the file says; 'aasm verify' judges it\n";

std::string ending_of(const ledger::RunSummary& run) {
  if (run.recovered) {
    return "interrupted";
  }
  return run.ending ? std::string(token(*run.ending)) : "unfinished";
}

JsonValue as_json(const ledger::RunSummary& run) {
  JsonValue::Object object{{"run", run.run.text()},
                           {"opened", schema::JsonValue(short_time(run.opened_wall_ns))},
                           {"program", run.program.to_json()},
                           {"agent_id", run.agent_id},
                           {"ending", ending_of(run)},
                           {"opened_seq", static_cast<std::int64_t>(run.opened_seq)}};
  if (run.end_seq) {
    object.emplace_back("end_seq", static_cast<std::int64_t>(*run.end_seq));
  }
  return object;
}

std::string as_line(const ledger::RunSummary& run) {
  std::string ending = ending_of(run);
  ending.resize(std::max<std::size_t>(ending.size(), 20), ' ');
  return run.run.text() + "  " + short_time(run.opened_wall_ns) + "  " + ending + "  " +
         schema::escape_for_display(run.agent_id) + "  " + run.program.display() + "\n";
}

}  // namespace

Result<ledger::LedgerReader> open_reader(const CommonOptions& common) {
  const Home home = AASM_TRY(Home::locate());
  if (common.ledger.empty()) {
    AASM_TRY(home.require_initialised());
  } else if (access(common.ledger.c_str(), F_OK) != 0) {
    return Error(ErrorCode::kNotFound, "--ledger " + common.ledger, errno);
  }
  return ledger::LedgerReader::open(common.ledger.empty() ? home.ledger() : common.ledger);
}

Result<schema::RunId> find_run(ledger::LedgerReader& reader, const std::string& prefix) {
  if (Result<schema::RunId> exact = schema::RunId::parse(prefix)) {
    return exact;
  }
  std::vector<schema::RunId> found;
  for (const ledger::RunSummary& run : AASM_TRY(reader.runs(SIZE_MAX))) {
    if (run.run.text().starts_with(prefix)) {
      found.push_back(run.run);
    }
  }
  if (found.size() != 1) {
    return Error(ErrorCode::kNotFound,
                 std::to_string(found.size()) + " runs begin with this; see 'aasm runs list'");
  }
  return found.front();
}

namespace {

Result<void> list(const RunsListCommand& command) {
  ledger::LedgerReader reader = AASM_TRY(open_reader(command.common));
  const std::vector<ledger::RunSummary> runs = AASM_TRY(reader.runs(command.limit));
  if (command.common.format == Format::kJson) {
    JsonValue::Array items;
    for (const ledger::RunSummary& run : runs) {
      items.push_back(as_json(run));
    }
    print_json(JsonValue::Object{
        {"schema", "aasm.runs/1"}, {"verified", false}, {"runs", std::move(items)}});
    return {};
  }
  std::string text = kNotVerified;
  for (const ledger::RunSummary& run : runs) {
    text += as_line(run);
  }
  print_out(text);
  return {};
}

// Object members that say the most about a record, in one line.
std::string gist(const ledger::StoredRecord& record) {
  static constexpr std::array kKeys = {"state", "posture", "ending", "backend", "program",
                                       "pid",   "status",  "signal", "cause",   "first"};
  std::string text;
  for (const char* key : kKeys) {
    const JsonValue* value = record.statement.body.find(key);
    if (value == nullptr) {
      continue;
    }
    if (const std::string* word = value->as_string()) {
      text += std::string(" ") + key + "=" + schema::escape_for_display(*word);
    } else if (const std::int64_t* number = value->as_int()) {
      text += std::string(" ") + key + "=" + std::to_string(*number);
    }
  }
  return text;
}

Result<void> show(const RunsShowCommand& command) {
  ledger::LedgerReader reader = AASM_TRY(open_reader(command.common));
  const schema::RunId run = AASM_TRY(find_run(reader, command.run));
  JsonValue::Array items;
  std::string text = kNotVerified + as_line(AASM_TRY(reader.run(run)));
  AASM_TRY(reader.visit_run(run, [&](const ledger::StoredRecord& record) -> Result<void> {
    const ledger_format::Envelope& envelope = record.statement.envelope;
    items.push_back(JsonValue::Object{{"seq", static_cast<std::int64_t>(record.seq)},
                                      {"kind", envelope.kind},
                                      {"leaf", record.leaf.hex()},
                                      {"body", record.statement.body}});
    text += "  " + std::to_string(record.seq) + "  " + short_time(envelope.wall_ns) + "  " +
            schema::escape_for_display(envelope.kind) + gist(record) + "\n";
    return {};
  }));
  if (command.common.format == Format::kJson) {
    print_json(JsonValue::Object{{"schema", "aasm.run/1"},
                                 {"verified", false},
                                 {"run", run.text()},
                                 {"records", std::move(items)}});
  } else {
    print_out(text);
  }
  return {};
}

Result<void> status(const LedgerStatusCommand& command) {
  ledger::LedgerReader reader = AASM_TRY(open_reader(command.common));
  const ledger::LedgerStatus found = AASM_TRY(reader.status());
  const auto number = [](std::uint64_t value) { return static_cast<std::int64_t>(value); };
  if (command.common.format == Format::kJson) {
    print_json(JsonValue::Object{
        {"schema", "aasm.ledger-status/1"},
        {"verified", false},
        {"origin", found.origin},
        {"records", number(found.records)},
        {"checkpoints", number(found.checkpoints)},
        {"blobs", number(found.blobs)},
        {"tail", number(found.tail)},
        {"newest_checkpoint", found.newest_checkpoint ? found.newest_checkpoint->note : ""}});
    return {};
  }
  print_out(std::string(kNotVerified) + "origin       " + schema::escape_for_display(found.origin) +
            "\nrecords      " + std::to_string(found.records) + "\ncheckpoints  " +
            std::to_string(found.checkpoints) + "\nblobs        " + std::to_string(found.blobs) +
            "\ntail         " + std::to_string(found.tail) + " records without a checkpoint\n");
  return {};
}

int finish(const Result<void>& done) {
  if (done) {
    return kExitOk;
  }
  print_err(error_line(done.error()));
  return done.error().code() == ErrorCode::kNotFound ? kExitFailed : kExitUnreadable;
}

}  // namespace

int run_runs_list(const RunsListCommand& command) {
  return finish(list(command));
}
int run_runs_show(const RunsShowCommand& command) {
  return finish(show(command));
}
int run_ledger_status(const LedgerStatusCommand& command) {
  return finish(status(command));
}

}  // namespace aasm::cli
