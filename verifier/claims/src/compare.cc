#include <algorithm>
#include <optional>
#include <utility>

#include "aasm/claims/report.h"
#include "aasm/schema/json_write.h"

#include "text.h"

namespace aasm::claims {
namespace {

using schema::Error;
using schema::ErrorCode;
using schema::JsonValue;

std::string value_text(const JsonValue* value) {
  if (value == nullptr) {
    return "nothing";
  }
  const std::string* text = value->as_string();
  return shown(text != nullptr ? *text : schema::json_write(*value), 80);
}

std::string name_at(const std::string& path, std::string_view member) {
  return path.empty() ? std::string(member) : path + "." + std::string(member);
}

std::optional<std::string> first_difference(const JsonValue* said, const JsonValue* found,
                                            const std::string& path);

// Members in their order of the recomputed report, then what only the given one has.
std::optional<std::string> first_in_object(const JsonValue& said, const JsonValue& found,
                                           const std::string& path) {
  for (const JsonValue::Member& member : *found.as_object()) {
    if (auto difference = first_difference(said.find(member.first), &member.second,
                                           name_at(path, member.first))) {
      return difference;
    }
  }
  for (const JsonValue::Member& member : *said.as_object()) {
    if (found.find(member.first) == nullptr) {
      return first_difference(&member.second, nullptr, name_at(path, shown(member.first, 40)));
    }
  }
  return std::nullopt;
}

std::optional<std::string> first_in_array(const JsonValue::Array& said,
                                          const JsonValue::Array& found, const std::string& path) {
  for (std::size_t i = 0; i < std::max(said.size(), found.size()); ++i) {
    if (auto difference = first_difference(i < said.size() ? &said[i] : nullptr,
                                           i < found.size() ? &found[i] : nullptr,
                                           path + "[" + std::to_string(i) + "]")) {
      return difference;
    }
  }
  return std::nullopt;
}

// The first place below `path` where the two differ, as a sentence. Depth is that of the
// recomputed report: what has another shape there is a difference and not looked into.
std::optional<std::string> first_difference(const JsonValue* said, const JsonValue* found,
                                            const std::string& path) {
  if (said != nullptr && found != nullptr) {
    if (said->as_object() != nullptr && found->as_object() != nullptr) {
      return first_in_object(*said, *found, path);
    }
    if (said->as_array() != nullptr && found->as_array() != nullptr) {
      return first_in_array(*said->as_array(), *found->as_array(), path);
    }
    if (*said == *found) {
      return std::nullopt;
    }
  }
  return path + ": the report says " + value_text(said) + ", the records " + value_text(found);
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

using Differences = std::vector<std::string>;

void compare_member(const JsonValue& given, const JsonValue& recomputed, const std::string& member,
                    const std::string& path, Differences& differences) {
  if (auto difference = first_difference(given.find(member), recomputed.find(member), path)) {
    differences.push_back(*std::move(difference));
  }
}

// Every member of the recomputed object by itself, and the first that only the given one has.
void compare_members(const JsonValue& given, const JsonValue& recomputed, const std::string& path,
                     Differences& differences) {
  for (const JsonValue::Member& member : *recomputed.as_object()) {
    if (member.first != "domains" && member.first != "contradictions") {
      compare_member(given, recomputed, member.first, name_at(path, member.first), differences);
    }
  }
  const JsonValue::Object& said = *given.as_object();
  const auto extra = std::find_if(said.begin(), said.end(), [&](const JsonValue::Member& member) {
    return recomputed.find(member.first) == nullptr;
  });
  if (extra != said.end()) {
    differences.push_back(name_at(path, shown(extra->first, 40)) + ": no report has this member");
  }
}

void compare_domains(const JsonValue::Array& said, const JsonValue::Array& found,
                     Differences& differences) {
  for (const JsonValue& row : found) {
    const std::string domain = domain_name(row);
    const JsonValue* other = row_of(said, domain);
    if (other == nullptr) {
      differences.push_back(domain + ": the report does not have it");
    } else {
      compare_members(*other, row, domain, differences);
    }
  }
  if (said.size() != found.size()) {
    differences.push_back("domains: the report has " + std::to_string(said.size()) + " rows for " +
                          std::to_string(found.size()));
  }
}

// Without the sequence numbers, which a live run does not know yet.
JsonValue without_positions(const JsonValue* contradictions) {
  JsonValue copy = contradictions == nullptr ? JsonValue() : *contradictions;
  if (JsonValue::Array* rows = copy.as_array()) {
    for (JsonValue& row : *rows) {
      if (JsonValue::Object* members = row.as_object()) {
        std::erase_if(*members, [](const auto& member) { return member.first == "seq"; });
      }
    }
  }
  return copy;
}

}  // namespace

schema::Result<std::vector<std::string>> compare_claims(const JsonValue& given,
                                                        const JsonValue& recomputed) {
  const JsonValue::Array& said = *AASM_TRY(domains_of(given));
  const JsonValue::Array& found = *AASM_TRY_CONTEXT(domains_of(recomputed), "recomputed report");
  Differences differences;
  compare_members(given, recomputed, "", differences);
  compare_domains(said, found, differences);
  const JsonValue told = without_positions(given.find("contradictions"));
  const JsonValue seen = without_positions(recomputed.find("contradictions"));
  if (auto difference = first_difference(&told, &seen, "contradictions")) {
    differences.push_back(*std::move(difference));
  }
  return differences;
}

}  // namespace aasm::claims
