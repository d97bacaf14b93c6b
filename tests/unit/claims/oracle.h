#pragma once

#include <cstdint>
#include <optional>

#include "sample_run.h"

namespace aasm::claims::test {

// Rules claims/1 written a second time, straight from the text of docs/spec/product.md section 5
// and without RunFacts: it sees the whole sequence at once and searches it again for every
// question. Slow and plain on purpose.
struct OracleAnswer {
  std::optional<schema::ClaimTerm> term;  // nullopt: not stated, or unknown rules
  std::int64_t denied_actions = 0;
};
OracleAnswer oracle(const Records& run, schema::Domain domain);

// Rule 2 for one event of the record `step` of `run`.
bool oracle_counts(const Records& run, const Step& step, const schema::Event& event,
                   schema::Domain domain);

}  // namespace aasm::claims::test
