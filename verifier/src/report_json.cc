#include "report_json.h"

#include <string>
#include <utility>

#include "aasm/schema/path_bytes.h"

#include "verdict.h"

namespace aasm::verifier {
namespace {

using schema::JsonValue;
using Object = JsonValue::Object;
using Array = JsonValue::Array;

// Counts in this report stay far below 2^53: they count rows of a file of at most 64 GiB.
JsonValue number(std::uint64_t value) {
  return JsonValue(static_cast<std::int64_t>(value));
}

template <class Id>
JsonValue hex_or_null(const std::optional<Id>& id) {
  return id ? JsonValue(id->hex()) : JsonValue();
}

JsonValue target(const VerifyRequest& request, const Outcome& outcome) {
  Array files;
  for (const CopiedFile& file : outcome.files) {
    files.push_back(Object{
        {"name", shown(file.name)}, {"size", number(file.size)}, {"sha256", file.digest.hex()}});
  }
  return Object{{"path", schema::PathBytes(request.target).to_json()},
                {"kind", outcome.target_kind},
                {"copy_attempts", number(static_cast<std::uint64_t>(outcome.copy_attempts))},
                {"files", std::move(files)}};
}

JsonValue trust(const VerifyRequest& request, const Outcome& outcome) {
  const TrustOutcome& found = outcome.trust;
  Object object{{"source", shown(request.trust_source)},
                {"explicit", request.explicit_trust},
                {"pinned", found.pinned},
                {"origin", found.origin},
                {"root", hex_or_null(found.root)},
                {"host", hex_or_null(found.host)},
                {"log", hex_or_null(found.log)}};
  if (!found.pinned) {
    object.emplace_back("banner", "UNPINNED");
  }
  return object;
}

JsonValue confinement(const Confinement& confined) {
  return Object{{"landlock_abi", std::int64_t{confined.landlock_abi}},
                {"filter", confined.filter},
                {"text", shown(confined.text)}};
}

JsonValue name_list(const NameList& names) {
  Array newest;
  for (const std::string& name : names.newest) {
    newest.emplace_back(name);
  }
  return Object{{"count", number(names.count)}, {"newest", std::move(newest)}};
}

JsonValue coverage(const Coverage& found) {
  Array compared;
  for (const ComparedNote& note : found.compared) {
    compared.push_back(
        Object{{"source", note.source}, {"size", number(note.size)}, {"agreed", note.agreed}});
  }
  return Object{
      {"records", number(found.records)},
      {"skipped", number(found.skipped)},
      {"checkpoints", number(found.checkpoints)},
      {"signed_up_to", number(found.signed_up_to)},
      {"unsigned_tail", number(found.records - std::min(found.records, found.signed_up_to))},
      {"witnessed_up_to", number(found.witnessed_up_to)},
      {"anchors_not_evaluated", number(found.anchors)},
      {"runs", number(found.runs)},
      {"closed", number(found.closed)},
      {"interrupted", name_list(found.interrupted)},
      {"unfinished", name_list(found.unfinished)},
      {"blobs", number(found.blobs)},
      {"blobs_withheld", number(found.blobs_withheld)},
      {"dropped_events", found.dropped_events},
      {"clock_steps", number(found.clock_steps)},
      {"compared_with", std::move(compared)}};
}

JsonValue findings(const FindingLog& log) {
  Array groups;
  for (const FindingLog::Group& group : log.groups()) {
    Array items;
    for (const Finding& finding : group.listed) {
      Object item{{"seq", finding.seq}};
      for (const auto& [name, text] :
           {std::pair<const char*, const std::string&>("expected", finding.expected),
            {"actual", finding.actual},
            {"detail", finding.detail}}) {
        if (!text.empty()) {
          item.emplace_back(name, text);
        }
      }
      items.emplace_back(std::move(item));
    }
    const FindingSpec& spec = spec_of(group.code);
    groups.push_back(Object{{"code", spec.token},
                            {"weight", to_string(spec.weight)},
                            {"meaning", spec.meaning},
                            {"count", number(group.count)},
                            {"items", std::move(items)}});
  }
  return Object{{"total", number(log.total())},
                {"listed", number(log.num_listed())},
                {"groups", std::move(groups)}};
}

JsonValue runs(const RunsOutcome& found, Verdict verdict) {
  Object by_state;
  for (const auto& [state, count] : found.by_state) {
    by_state.emplace_back(state, number(count));
  }
  Array newest;
  for (const RunOutcome& run : found.newest) {
    newest.push_back(Object{{"id", run.id},
                            {"opened_seq", run.opened_seq},
                            {"last_seq", run.last_seq},
                            {"state", run.state},
                            {"posture", run.posture},
                            {"claims", run.has_claims ? "recomputed" : "none"},
                            {"report", run.json}});
  }
  return Object{{"in_scope", number(found.in_scope)},
                {"evidence", claims_are_evidence(verdict)},
                {"by_state", std::move(by_state)},
                {"listed", number(found.newest.size())},
                {"newest", std::move(newest)}};
}

JsonValue receipt(const ReceiptOutcome& said) {
  return Object{{"index", number(said.index)},
                {"tree_size", number(said.tree_size)},
                {"run", said.run},
                {"claims", "recorded, not recomputed"},
                {"agent", said.agent},
                {"program", said.program},
                {"isolation", said.isolation},
                {"ending", said.ending},
                {"program_started", said.program_started},
                {"records", said.records},
                {"events", said.events},
                {"actions", said.actions},
                {"dropped", said.dropped}};
}

}  // namespace

JsonValue report_json(const VerifyRequest& request, const Outcome& outcome, Verdict verdict) {
  Object report{{"schema", kVerifyReportSchema},
                {"verdict", to_string(verdict)},
                {"exit_status", std::int64_t{exit_status(verdict)}},
                {"target", target(request, outcome)},
                {"trust", trust(request, outcome)},
                {"confinement", confinement(request.confinement)},
                {"scope", Object{{"run", shown(request.run)},
                                 {"require_close", request.require_close},
                                 {"allow_open", request.allow_open}}},
                {"coverage", coverage(outcome.coverage)},
                {"findings", findings(outcome.findings)},
                {"runs", runs(outcome.runs, verdict)}};
  if (outcome.receipt && verdict != Verdict::kFailed) {
    report.emplace_back("receipt", receipt(*outcome.receipt));
  }
  return report;
}

}  // namespace aasm::verifier
