#include <algorithm>
#include <array>

#include "aasm/claims/report.h"
#include "aasm/schema/json_write.h"

#include "text.h"

namespace aasm::claims {
namespace {

using schema::Error;
using schema::ErrorCode;
using schema::JsonValue;

constexpr std::array<const char*, 4> kReportMembers = {"stage", "claims_rules",
                                                       "claims_rules_known", "posture"};
constexpr std::array<const char*, 8> kDomainMembers = {
    "requested", "claim", "denied_actions", "boundary", "channel", "basis", "planned", "achieved"};

std::string value_text(const JsonValue* value) {
  if (value == nullptr) {
    return "nothing";
  }
  const std::string* text = value->as_string();
  return shown(text != nullptr ? *text : schema::json_write(*value), 80);
}

void compare_member(const JsonValue& given, const JsonValue& recomputed, const char* member,
                    const std::string& where, std::vector<std::string>& differences) {
  const JsonValue* said = given.find(member);
  const JsonValue* found = recomputed.find(member);
  // Texts, because members of an object may stand in any order.
  if (said != nullptr && found != nullptr &&
      schema::json_write(*said) == schema::json_write(*found)) {
    return;
  }
  differences.push_back(where + member + ": the report says " + value_text(said) +
                        ", the records " + value_text(found));
}

schema::Result<const JsonValue::Array*> domains_of(const JsonValue& report) {
  const std::string* version =
      report.find("schema") == nullptr ? nullptr : report.find("schema")->as_string();
  const JsonValue* domains = report.find("domains");
  if (version == nullptr) {
    return Error(ErrorCode::kMalformed, "not an isolation report: no schema");
  }
  if (*version != kReportSchema) {
    return Error(ErrorCode::kUnsupported, "a report of schema " + shown(*version, 80));
  }
  if (domains == nullptr || domains->as_array() == nullptr) {
    return Error(ErrorCode::kMalformed, "not an isolation report: no domains");
  }
  return domains->as_array();
}

std::string domain_name(const JsonValue& row) {
  const JsonValue* name = row.find("domain");
  return name == nullptr || name->as_string() == nullptr ? "" : *name->as_string();
}

const JsonValue* row_of(const JsonValue::Array& rows, const std::string& domain) {
  const auto at = std::find_if(rows.begin(), rows.end(),
                               [&](const JsonValue& row) { return domain_name(row) == domain; });
  return at == rows.end() ? nullptr : &*at;
}

// A report about another run may claim the same; it is still not a report on this one.
void compare_run(const JsonValue& given, const JsonValue& recomputed,
                 std::vector<std::string>& differences) {
  const JsonValue* said = given.find("run");
  const JsonValue* found = recomputed.find("run");
  if (said == nullptr || found == nullptr) {
    differences.emplace_back("run: the report names no run");
    return;
  }
  compare_member(*said, *found, "id", "run.", differences);
}

}  // namespace

schema::Result<std::vector<std::string>> compare_claims(const JsonValue& given,
                                                        const JsonValue& recomputed) {
  const JsonValue::Array& said = *AASM_TRY(domains_of(given));
  const JsonValue::Array& found = *AASM_TRY_CONTEXT(domains_of(recomputed), "recomputed report");
  std::vector<std::string> differences;
  compare_run(given, recomputed, differences);
  for (const char* member : kReportMembers) {
    compare_member(given, recomputed, member, "", differences);
  }
  for (const JsonValue& row : found) {
    const std::string domain = domain_name(row);
    const JsonValue* other = row_of(said, domain);
    if (other == nullptr) {
      differences.push_back(domain + ": the report does not have it");
      continue;
    }
    for (const char* member : kDomainMembers) {
      compare_member(*other, row, member, domain + ".", differences);
    }
  }
  if (said.size() != found.size()) {
    differences.push_back("domains: the report has " + std::to_string(said.size()) + " rows for " +
                          std::to_string(found.size()));
  }
  return differences;
}

}  // namespace aasm::claims
