#include <cstddef>
#include <utility>

#include "aasm/claims/report.h"
#include "aasm/schema/utf8.h"

#include "report_sections.h"
#include "text.h"

namespace aasm::claims {
namespace {

using schema::AuthorityFate;

std::string environment_line(const schema::AmbientAuthority& held) {
  return line("environment: " + counted(held.delegated, "name") +
              " passed on because policy names them, " + std::to_string(held.ambient_unremoved) +
              " although it names none, " + std::to_string(held.removed) + " removed");
}

std::string sensitive_line(const schema::AmbientAuthority& held, AuthorityFate fate) {
  std::vector<std::string> names;
  for (const schema::SensitiveName& one : held.sensitive) {
    if (one.fate == fate) {
      names.push_back(one.name + " (" + name_of(one.kind) + ")");
    }
  }
  return list_line("look like credentials, " + name_of(fate), names);
}

std::string descriptors_line(const schema::AmbientAuthority& held, AuthorityFate fate) {
  std::vector<std::string> items;
  for (const schema::InheritedDescriptor& one : held.descriptors) {
    if (one.fate == fate) {
      items.push_back(std::to_string(one.number) + " (" + name_of(one.kind) +
                      (one.writable ? ", writable)" : ")"));
    }
  }
  return list_line("inherited descriptors, " + name_of(fate), items);
}

std::string inventory_lines(const schema::AmbientAuthority& held) {
  std::string lines = environment_line(held);
  for (const AuthorityFate fate :
       {AuthorityFate::kAmbientUnremoved, AuthorityFate::kDelegated, AuthorityFate::kRemoved}) {
    lines += sensitive_line(held, fate);
  }
  if (held.sensitive_unlisted > 0) {
    lines += line(counted(held.sensitive_unlisted, "further name") +
                  " that look like credentials did not fit into the record");
  }
  if (!held.descriptors_listed) {
    return lines + line("inherited descriptors: they could not be listed");
  }
  for (const AuthorityFate fate :
       {AuthorityFate::kAmbientUnremoved, AuthorityFate::kDelegated, AuthorityFate::kRemoved}) {
    lines += descriptors_line(held, fate);
  }
  if (held.descriptors_unlisted > 0) {
    lines += line(counted(held.descriptors_unlisted, "further descriptor") +
                  " did not fit into the record");
  }
  return lines;
}

std::string passed_line(const IsolationReport& report) {
  if (!report.descriptors) {
    return line("descriptors passed on: no inventory is recorded");
  }
  std::vector<std::string> numbers;
  for (const std::int64_t number : *report.descriptors) {
    numbers.push_back(std::to_string(number));
  }
  return list_line("descriptors passed on", numbers);
}

}  // namespace

std::string authority_block(const IsolationReport& report) {
  std::string lines;
  if (report.ambient) {
    lines += inventory_lines(*report.ambient);
  }
  lines += list_line("ambient, not removed", report.credentials.ambient_unremoved);
  lines += list_line("removed", report.credentials.removed);
  lines += list_line("delegated", report.credentials.delegated);
  if (!report.credential_contradictions.empty()) {
    lines += list_line("contradictory", report.credential_contradictions);
  }
  lines += passed_line(report);
  return block("residual ambient authority (names and numbers only):", lines);
}

}  // namespace aasm::claims
