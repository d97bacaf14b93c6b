#include "aasm/planner/environment.h"

#include <algorithm>
#include <utility>

#include "aasm/schema/json_write.h"
#include "aasm/schema/utf8.h"

namespace aasm::planner {
namespace {

using schema::AmbientAuthority;
using schema::AuthorityFate;

// A plan is one record of at most 65,000 bytes (docs/spec/ledger-format.md section 2) and has much
// else to say; an environment may have megabytes of names. A name may have 128 KiB (execve(2)).
constexpr std::size_t kListBytes = 16000;
constexpr std::size_t kMaxNameBytes = 1024;
constexpr std::size_t kCutNameBytes = 256;
constexpr std::size_t kMaxDescriptors = 200;

std::size_t bytes_in_record(const std::string& text) {
  return schema::json_write(schema::JsonValue(text)).size() + 1;
}

void sort_unique(std::vector<std::string>& names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
}

// A name can stand twice in an environment, once well formed and once not.
void take_out(std::vector<std::string>& names, const std::vector<std::string>& others) {
  names.erase(std::remove_if(names.begin(), names.end(),
                             [&](const std::string& name) {
                               return std::binary_search(others.begin(), others.end(), name);
                             }),
              names.end());
}

std::vector<int> descriptors_of(const CredentialGrants& grants) {
  std::vector<int> numbers = grants.descriptors.value_or(std::vector<int>{0, 1, 2});
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

// One name of the environment and what becomes of it.
struct Named {
  std::string name;
  std::optional<SensitiveKind> kind;
  AuthorityFate fate = AuthorityFate::kRemoved;

  bool operator==(const Named&) const = default;
};

AuthorityFate fate_of(std::string_view entry, std::string_view name,
                      std::optional<SensitiveKind> kind, const CredentialGrants& grants) {
  if (!grants.environment) {
    return AuthorityFate::kAmbientUnremoved;
  }
  const std::vector<std::string>& named = *grants.environment;
  const bool passes = entry.find('=') != std::string_view::npos &&
                      std::find(named.begin(), named.end(), name) != named.end() &&
                      kind != SensitiveKind::kSupervisorCredential;
  return passes ? AuthorityFate::kDelegated : AuthorityFate::kRemoved;
}

std::vector<std::string> names_with(const std::vector<Named>& all, AuthorityFate fate,
                                    bool sensitive_only) {
  std::vector<std::string> names;
  for (const Named& one : all) {
    if (one.fate == fate && (one.kind || !sensitive_only)) {
      names.push_back(one.name);
    }
  }
  sort_unique(names);
  return names;
}

std::int64_t count_of(const std::vector<std::string>& names) {
  return static_cast<std::int64_t>(names.size());
}

// The names that look like credentials: removed ones only where the name is nowhere passed on.
void list_sensitive(std::vector<Named> all, const std::vector<std::string>& removed,
                    AmbientAuthority& ambient) {
  std::sort(all.begin(), all.end(), [](const Named& a, const Named& b) {
    return a.name != b.name ? a.name < b.name : a.fate < b.fate;
  });
  all.erase(std::unique(all.begin(), all.end()), all.end());
  std::size_t bytes = 0;
  for (const Named& one : all) {
    if (!one.kind || (one.fate == AuthorityFate::kRemoved &&
                      !std::binary_search(removed.begin(), removed.end(), one.name))) {
      continue;
    }
    constexpr std::size_t kMemberBytes = 80;  // of kind and fate and what stands around them
    bytes += bytes_in_record(one.name) + kMemberBytes;
    if (bytes > kListBytes) {
      ++ambient.sensitive_unlisted;
    } else {
      ambient.sensitive.push_back({one.name, *one.kind, one.fate});
    }
  }
}

}  // namespace

std::string recordable_name(std::string_view name) {
  std::string text =
      schema::is_valid_utf8(name) ? std::string(name) : schema::escape_for_display(name);
  if (text.size() <= kMaxNameBytes) {
    return text;
  }
  text.resize(kCutNameBytes);
  while (!schema::is_valid_utf8(text)) {
    text.pop_back();
  }
  return text + "... (a name of " + std::to_string(name.size()) + " bytes)";
}

EnvironmentPlan plan_environment(const std::vector<std::string>& environment,
                                 const CredentialGrants& grants) {
  EnvironmentPlan plan;
  plan.descriptors = descriptors_of(grants);
  std::vector<Named> all;
  for (const std::string& entry : environment) {
    const std::string_view name = std::string_view(entry).substr(0, entry.find('='));
    const std::optional<SensitiveKind> kind = sensitive_kind(name);
    const AuthorityFate fate = fate_of(entry, name, kind, grants);
    if (fate != AuthorityFate::kRemoved) {
      plan.environment.push_back(entry);
    }
    all.push_back({recordable_name(name), kind, fate});
  }
  CredentialPosture& posture = plan.posture;
  posture.removed = names_with(all, AuthorityFate::kRemoved, false);
  posture.delegated = names_with(all, AuthorityFate::kDelegated, false);
  take_out(posture.removed, posture.delegated);
  posture.ambient_unremoved = names_with(all, AuthorityFate::kAmbientUnremoved, true);
  plan.ambient.removed = count_of(posture.removed);
  plan.ambient.delegated = count_of(posture.delegated);
  plan.ambient.ambient_unremoved =
      count_of(names_with(all, AuthorityFate::kAmbientUnremoved, false));
  list_sensitive(std::move(all), posture.removed, plan.ambient);
  return plan;
}

void list_descriptors(const std::vector<schema::InheritedDescriptor>& inherited,
                      const std::vector<int>& passed, bool closes_others,
                      AmbientAuthority& ambient) {
  ambient.descriptors_listed = true;
  for (schema::InheritedDescriptor one : inherited) {
    const bool listed =
        std::any_of(passed.begin(), passed.end(), [&](int number) { return number == one.number; });
    if (one.fate != AuthorityFate::kRemoved) {  // the caller knows that it is closed
      one.fate = listed          ? AuthorityFate::kDelegated
                 : closes_others ? AuthorityFate::kRemoved
                                 : AuthorityFate::kAmbientUnremoved;
    }
    if (ambient.descriptors.size() == kMaxDescriptors) {
      ++ambient.descriptors_unlisted;
    } else {
      ambient.descriptors.push_back(one);
    }
  }
}

}  // namespace aasm::planner
