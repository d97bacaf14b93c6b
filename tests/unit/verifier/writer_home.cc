#include "writer_home.h"

#include <fstream>
#include <iterator>
#include <utility>

#include "aasm/crypto/hash.h"
#include "aasm/ledger/ledger_sink.h"
#include "aasm/ledger/reader.h"
#include "aasm/ledger/run_receipt.h"

#include "claims/sample_run.h"
#include "judge.h"

namespace aasm::verifier::test {
namespace {

constexpr const char* kDocument = "version: 1\nfilesystem: {}\n";

void submit_all(ledger::LedgerSink& sink, bool until_start) {
  claims::test::Records records = claims::test::sample_run();
  bind_plan(records);
  for (const claims::test::Step& step : records) {
    schema::RecordBody body = step.body;
    if (std::holds_alternative<schema::RunOpened>(body) ||
        std::holds_alternative<schema::RunClosed>(body)) {
      continue;
    }
    if (std::holds_alternative<schema::ProcessStarted>(body)) {
      sink.flush().value();
      if (until_start) {
        return;
      }
    }
    if (auto* policy = std::get_if<schema::PolicyResolved>(&body)) {
      policy->blob = sink.stage_blob(kDocument).value();
      policy->document = crypto::sha256(schema::as_bytes(kDocument));
    }
    sink.submit(std::move(body));
  }
}

}  // namespace

std::string WriterHome::add_sample_run() {
  const auto sink = ledger::LedgerSink::create(home_.open(), home_.paths()).value();
  const schema::RunId run = aasm::test::new_run();
  claims::test::Records records = claims::test::sample_run();
  sink->open_run(run, claims::test::body_of<schema::RunOpened>(records)).value();
  submit_all(*sink, false);
  sink->close_run(claims::test::body_of<schema::RunClosed>(records)).value();
  return run.text();
}

std::string WriterHome::add_short_run() {
  const auto sink = ledger::LedgerSink::create(home_.open(), home_.paths()).value();
  const schema::RunId run = aasm::test::new_run();
  sink->open_run(run, aasm::test::opened_body()).value();
  sink->close_run(aasm::test::closed_body()).value();
  return run.text();
}

std::string WriterHome::add_unfinished_run() {
  const auto sink = ledger::LedgerSink::create(home_.open(), home_.paths()).value();
  const schema::RunId run = aasm::test::new_run();
  claims::test::Records records = claims::test::sample_run();
  sink->open_run(run, claims::test::body_of<schema::RunOpened>(records)).value();
  submit_all(*sink, true);
  return run.text();
}

std::string WriterHome::receipt(const std::string& run) const {
  ledger::LedgerReader reader = ledger::LedgerReader::open(ledger()).value();
  return ledger::build_run_receipt(reader, schema::RunId::parse(run).value()).value();
}

std::string WriterHome::head_note() const {
  const std::string name = crypto::sha256(schema::as_bytes(home_.keys().origin)).hex();
  return slurp(home_.paths().heads + "/" + name);
}

ledger_format::TrustSet trust_of(const ledger::LedgerPaths& paths) {
  using ledger_format::NoteKeyType;
  using ledger_format::VerifierKey;
  const ledger::KeySet keys = ledger::load_keys(paths.keys).value();
  const ledger::RootKey root = ledger::load_root_key(paths.keys).value();
  ledger_format::TrustSet trust;
  trust.policy.logs.push_back(
      {VerifierKey::make(keys.origin, NoteKeyType::kEd25519, keys.log.public_key()).value(), ""});
  trust.keys.roots.push_back(
      {keys.origin,
       VerifierKey::make("root", NoteKeyType::kEd25519, root.key.public_key()).value()});
  return trust;
}

ledger_format::TrustSet WriterHome::trust() const {
  return trust_of(home_.paths());
}

VerifyRequest WriterHome::request() const {
  return request_for(ledger(), trust());
}

std::string slurp(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void spit(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

}  // namespace aasm::verifier::test
