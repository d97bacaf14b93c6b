#pragma once

#include <set>
#include <string>

#include "aasm/ledger_format/trust.h"
#include "aasm/verifier/verifier.h"

#include "forge.h"

// How tests ask the verifier and read its answer.
namespace aasm::verifier::test {

VerifyRequest request_for(const std::string& path, const ledger_format::TrustSet& trust);

// The head file in which a host keeps this note: named by the origin on its first line.
HeadNote head_of(const std::string& note);

// The codes of all findings that weigh anything, from the JSON report.
std::set<std::string> codes(const VerifyReport& report);
std::set<std::string> notices(const VerifyReport& report);
// How often a code was found; 0 when it was not.
std::int64_t count_of(const VerifyReport& report, const std::string& code);
// The number at a path such as "coverage/records"; -1 when there is none.
std::int64_t number_at(const VerifyReport& report, const std::string& path);
const schema::JsonValue* value_at(const schema::JsonValue& json, const std::string& path);

// Writes what `forge` holds to a temporary file and verifies it with its keys pinned.
VerifyReport verify_forged(const Forge& forge);
VerifyReport verify_forged(const Forge& forge, VerifyRequest request);  // target and trust are set

// Runs one SQL text on a database file.
void doctor(const std::string& path, const std::string& sql);

// The verdict as a program would compute it from the JSON report alone.
std::string verdict_from_json(const schema::JsonValue& report);

}  // namespace aasm::verifier::test
