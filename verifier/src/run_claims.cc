#include "run_claims.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "aasm/crypto/hash.h"
#include "aasm/ledger_format/pae.h"
#include "aasm/schema/enum_names.h"
#include "aasm/schema/json_parse.h"
#include "aasm/schema/json_write.h"
#include "aasm/schema/plan_text.h"

#include "record_rows.h"

namespace aasm::verifier {
namespace {

using schema::JsonValue;
using schema::Result;

// Reports of whole ledgers are kept for the newest runs only, and only while they stay small.
constexpr std::size_t kMaxReportBytes = std::size_t{96} << 10U;
constexpr std::size_t kMaxKeptReportBytes = std::size_t{4} << 20U;

constexpr std::string_view kUnfinishedState = "unfinished";

std::string run_of_report(const JsonValue& report) {
  const JsonValue* run = report.find("run");
  const JsonValue* id = run == nullptr ? nullptr : run->find("id");
  return id == nullptr || id->as_string() == nullptr ? "" : *id->as_string();
}

std::string pad(std::string_view text, std::size_t width) {
  std::string padded(text);
  padded.resize(std::max(width, padded.size()), ' ');
  return padded;
}

std::string domain_line(const claims::DomainClaim& domain) {
  return pad(schema::token(domain.domain), 18) + pad(domain.claim_text(), 38) +
         "boundary=" + std::string(schema::token(domain.boundary)) +
         " channel=" + domain.channel.text() + " basis=" + std::string(schema::token(domain.basis));
}

// A line for every domain that the policy states, and one that names the others.
std::vector<std::string> claim_lines(const claims::RunClaims& claims) {
  std::vector<std::string> lines;
  std::string not_stated;
  for (const claims::DomainClaim& domain : claims.domains) {
    if (domain.stated) {
      lines.push_back(domain_line(domain));
    } else {
      not_stated += (not_stated.empty() ? "" : ", ") + std::string(schema::token(domain.domain));
    }
  }
  if (!not_stated.empty()) {
    lines.push_back(pad("not stated", 18) + not_stated);
  }
  return lines;
}

// Texts of a record are valid UTF-8, so the canonical text exists.
void recompute_plan_digest(claims::RunFacts& facts) {
  if (facts.opened() && facts.policy() && facts.plan()) {
    const std::string text = schema::plan_canonical_text(
        schema::plan_subject(facts.opened()->body, facts.policy()->body), facts.plan()->body);
    facts.set_recomputed_plan_digest(crypto::sha256(schema::as_bytes(text)));
  }
}

}  // namespace

RunClaims::RunClaims(const VerifyRequest& request, sqlite::Connection& connection, Outcome& outcome)
    : request_(request), connection_(connection), findings_(outcome.findings), outcome_(outcome) {
  if (!request_.given_report) {
    return;
  }
  Result<JsonValue> given = schema::json_parse(*request_.given_report);
  if (given) {
    given_ = std::move(given).value();
    given_run_ = run_of_report(*given_);
  } else {
    findings_.add(FindingCode::kReportUnreadable, -1, {.actual = given.error().message()});
  }
}

bool RunClaims::takes(const std::string& run) {
  if (!request_.run.empty() && !run.starts_with(request_.run)) {
    return false;
  }
  ++matches_;
  return request_.run.empty() || matches_ == 1;
}

std::optional<RunClaims::Probe> RunClaims::load_probe(std::int64_t seq) {
  const Result<std::optional<schema::Bytes>> payload = read_payload(connection_, seq);
  if (!payload || !*payload) {
    return std::nullopt;
  }
  RecordView record;
  record.raw.payload = **payload;
  parse_record(record);
  auto* body = record.body ? std::get_if<schema::CapabilityProbed>(&*record.body) : nullptr;
  if (body == nullptr) {
    return std::nullopt;
  }
  return Probe{seq, record.leaf, std::move(*body)};
}

void RunClaims::resolve_probe(const RecordView& record, const schema::CapabilityProbed& body) {
  const std::int64_t seq = body.reference->seq;
  std::optional<Probe> probe;
  if (last_probe_ && last_probe_->seq == seq) {
    probe = last_probe_;
  } else if (seq >= 0 && seq < record.raw.seq) {  // scanned already, so its faults are known
    probe = load_probe(seq);
  }
  if (!probe) {
    findings_.add(
        FindingCode::kProbeReferenceDangling, record.raw.seq,
        {.expected = "an earlier capability.probed at " + std::to_string(seq), .actual = "none"});
    return;
  }
  record.run->facts->add_referenced_probe(seq, probe->leaf, probe->body);
  last_probe_ = std::move(probe);
}

void RunClaims::feed(const RecordView& record) {
  record.run->facts->add(record.raw.seq, record.envelope->boot, record.signature_ok, *record.body);
  const auto* probed = std::get_if<schema::CapabilityProbed>(&*record.body);
  if (probed != nullptr && probed->reference) {
    resolve_probe(record, *probed);
  }
}

void RunClaims::add_findings(const Run& run, const claims::RunClaims& claims) {
  for (const claims::Contradiction& one : claims.contradictions) {
    const std::string_view token = schema::token(one.code);
    findings_.add(find_code(token).value_or(FindingCode::kInternalError), one.seq,
                  {.actual = one.detail,
                   .detail = "run " + run.id.text() + ", " + std::to_string(one.count) +
                             (one.count == 1 ? " time" : " times")});
  }
  for (const claims::OpenQuestion question : claims.open_questions) {
    const std::string_view token = schema::token(question);
    findings_.add(find_code(token).value_or(FindingCode::kInternalError), run.last_seq,
                  {.detail = "run " + run.id.text()});
  }
  if (run.recovered && (!request_.run.empty() || request_.require_close)) {
    findings_.add(
        FindingCode::kRunInterrupted, run.last_seq,
        {.expected = "run.closed", .actual = "run.recovered", .detail = "run " + run.id.text()});
  }
}

void RunClaims::compare_given(const Run& run, const JsonValue& recomputed) {
  // With --run the report must be about that run, whatever it says itself.
  if (!given_ || (request_.run.empty() && run.id.text() != given_run_)) {
    return;
  }
  given_compared_ = true;
  Result<std::vector<std::string>> differences = claims::compare_claims(*given_, recomputed);
  if (differences && !differences->empty() && run.facts->precedes_inventory()) {
    // Saved by the version that wrote the run, perhaps: then as it was derived.
    auto then = claims::compare_claims(*given_, claims::as_before_inventory(recomputed));
    if (then && then->size() < differences->size()) {
      differences = std::move(then);
    }
  }
  if (!differences) {
    findings_.add(FindingCode::kReportUnreadable, -1, {.actual = differences.error().message()});
    return;
  }
  for (const std::string& sentence : *differences) {
    findings_.add(FindingCode::kReportDiffers, run.last_seq,
                  {.actual = sentence, .detail = "run " + run.id.text()});
  }
}

void RunClaims::keep(RunOutcome summary) {
  ++outcome_.runs.in_scope;
  ++outcome_.runs.by_state[summary.state];
  kept_json_bytes_ += summary.json_bytes;
  outcome_.runs.newest.push_back(std::move(summary));
  if (outcome_.runs.newest.size() > kMaxListedRuns) {
    kept_json_bytes_ -= outcome_.runs.newest.front().json_bytes;
    outcome_.runs.newest.pop_front();
  }
  for (RunOutcome& run : outcome_.runs.newest) {
    if (kept_json_bytes_ <= kMaxKeptReportBytes) {
      break;
    }
    kept_json_bytes_ -= run.json_bytes;
    run.json_bytes = 0;
    run.json = JsonValue();
  }
}

void RunClaims::fold(const Run& run) {
  if (!run.facts) {
    return;
  }
  recompute_plan_digest(*run.facts);
  const claims::RunClaims claims = claims::derive(*run.facts);
  add_findings(run, claims);
  const claims::IsolationReport report = claims::build_report(*run.facts, claims, run.id.text());
  RunOutcome summary;
  summary.id = run.id.text();
  summary.opened_seq = run.opened_seq;
  summary.last_seq = run.last_seq;
  summary.state =
      claims.state == claims::RunState::kOpen ? kUnfinishedState : schema::token(claims.state);
  summary.posture = schema::token(claims.posture);
  summary.has_claims = true;
  summary.lines = claim_lines(claims);
  if (report.enforcement_mode == "observe") {
    summary.lines.push_back(pad("mode observe", 18) +
                            "where a boundary is absent, policy prevented nothing");
  }
  JsonValue json = claims::render_json(report);
  compare_given(run, json);
  summary.json_bytes = schema::json_write(json).size();
  const bool single = !request_.run.empty();
  if (single) {
    summary.human = claims::render_human(report);
  }
  if (single || summary.json_bytes <= kMaxReportBytes) {
    summary.json = std::move(json);
  } else {
    summary.json_bytes = 0;
  }
  const auto& closed = run.facts->closed();
  outcome_.coverage.dropped_events +=
      std::max(run.facts->totals().dropped, closed ? closed->body.channel.dropped : 0);
  keep(std::move(summary));
}

void RunClaims::list_unfinished(const Run& run) {
  RunOutcome summary;
  summary.id = run.id.text();
  summary.opened_seq = run.opened_seq;
  summary.last_seq = run.last_seq;
  summary.state = kUnfinishedState;
  keep(std::move(summary));
}

void RunClaims::finish() {
  if (!request_.run.empty() && matches_ == 0) {
    findings_.add(FindingCode::kRunNotFound, -1, {.expected = request_.run});
  }
  if (!request_.run.empty() && matches_ > 1) {
    findings_.add(FindingCode::kRunAmbiguous, -1,
                  {.expected = request_.run, .actual = std::to_string(matches_) + " runs"});
  }
  if (given_ && !given_compared_) {
    findings_.add(FindingCode::kReportNotRecomputed, -1,
                  {.expected = "a closed run " + given_run_ + " in scope"});
  }
}

}  // namespace aasm::verifier
