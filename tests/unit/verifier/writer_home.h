#pragma once

#include <string>

#include "aasm/verifier/verifier.h"

#include "support/ledger_home.h"

namespace aasm::verifier::test {

// A home directory whose ledger was written by the real writer.
class WriterHome {
 public:
  // One run through the evidence sink: every kind of record, a policy document as a blob.
  // Returns its id.
  std::string add_sample_run();
  std::string add_short_run();
  // Everything before the start; the supervisor then goes away without closing.
  std::string add_unfinished_run();
  // The receipt of a closed run.
  std::string receipt(const std::string& run) const;

  const aasm::test::LedgerHome& home() const { return home_; }
  std::string ledger() const { return home_.paths().ledger; }
  std::string head_note() const;
  ledger_format::TrustSet trust() const;
  VerifyRequest request() const;

 private:
  aasm::test::LedgerHome home_;
};

// What pins the root and log key of a home with one origin.
ledger_format::TrustSet trust_of(const ledger::LedgerPaths& paths);

// A file's content.
std::string slurp(const std::string& path);
void spit(const std::string& path, const std::string& bytes);

}  // namespace aasm::verifier::test
