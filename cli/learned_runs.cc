#include "learned_runs.h"

#include <utility>
#include <variant>

#include "aasm/schema/record.h"

namespace aasm::cli {
namespace {

using schema::Event;
using schema::Result;

// Refused by policy, or what would have been; and what the host refused of it.
bool is_asked(const Event& event, bool observation) {
  const bool policy = event.cause == schema::DecisionCause::kPolicy;
  const bool ours = event.rule.starts_with("self_protection.");
  if (observation) {
    return !ours;
  }
  return policy && !ours && event.outcome == schema::DecisionOutcome::kDenied;
}

class RunVisitor {
 public:
  RunVisitor(std::string run, bool first, LearnedRuns& out)
      : run_(std::move(run)), first_(first), out_(out) {}

  Result<void> take(const ledger_format::Statement& statement) {
    const auto body = AASM_TRY(schema::read_body(statement.envelope.kind, statement.body));
    if (body) {
      take_body(*body);
    }
    return {};
  }

 private:
  void take_body(const schema::RecordBody& body) {
    if (const auto* opened = std::get_if<schema::RunOpened>(&body)) {
      const std::string& here = opened->working_dir.bytes();
      out_.working_dir = first_ || out_.working_dir == here ? here : "";
    } else if (const auto* policy = std::get_if<schema::PolicyResolved>(&body)) {
      take_policy(*policy);
    } else if (const auto* decided = std::get_if<schema::DecisionBatch>(&body)) {
      take_events(decided->events, false);
    } else if (const auto* seen = std::get_if<schema::ObservationBatch>(&body)) {
      take_events(seen->events, true);
    }
  }

  void take_policy(const schema::PolicyResolved& policy) {
    std::map<std::string, std::optional<schema::Sha256>> documents;
    documents[policy.source.bytes()] = policy.document;
    for (const schema::PolicySource& one :
         policy.extends.value_or(std::vector<schema::PolicySource>())) {
      documents[one.source.bytes()] = one.document;
    }
    if (first_ && out_.documents.empty()) {
      out_.documents = std::move(documents);
      out_.policy_path = policy.source.bytes();
    } else if (documents != out_.documents) {
      out_.several = "the runs had different policies";
    }
  }

  void take_events(const std::vector<Event>& events, bool observation) {
    for (const Event& event : events) {
      if (is_asked(event, observation)) {
        out_.asked.push_back({event, run_});
      }
    }
  }

  std::string run_;
  bool first_;
  LearnedRuns& out_;
};

}  // namespace

Result<LearnedRuns> read_runs(ledger::LedgerReader& reader, const VerifiedTree& verified,
                              const std::vector<std::string>& prefixes) {
  LearnedRuns runs;
  std::vector<ReadRecord> read;
  for (const std::string& prefix : prefixes) {
    const schema::RunId run = AASM_TRY(find_run(reader, prefix));
    RunVisitor visitor(run.text(), &prefix == &prefixes.front(), runs);
    const auto take = [&](const ledger::StoredRecord& record) {
      read.emplace_back(record.seq, record.leaf);
      return visitor.take(record.statement);
    };
    AASM_TRY(reader.visit_run(run, take));
  }
  const std::vector<schema::LeafHash> leaves = AASM_TRY(reader.leaves(0, verified.size));
  AASM_TRY(check_read(verified, leaves, read));
  return runs;
}

}  // namespace aasm::cli
