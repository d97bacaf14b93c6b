#include "aasm/planner/environment.h"

#include <algorithm>
#include <array>
#include <utility>

#include "aasm/schema/utf8.h"

namespace aasm::planner {
namespace {

// The name tests of the reference implementation, kept so that both report the same names.
constexpr std::array<std::string_view, 14> kMetadata = {"AWS_EC2_METADATA_SERVICE_ENDPOINT",
                                                        "AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE",
                                                        "AWS_EC2_METADATA_DISABLED",
                                                        "AWS_CONTAINER_CREDENTIALS_FULL_URI",
                                                        "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
                                                        "ECS_CONTAINER_METADATA_URI",
                                                        "ECS_CONTAINER_METADATA_URI_V4",
                                                        "GCE_METADATA_HOST",
                                                        "GCE_METADATA_ROOT",
                                                        "GCE_METADATA_IP",
                                                        "IMDS_ENDPOINT",
                                                        "MSI_ENDPOINT",
                                                        "IDENTITY_ENDPOINT",
                                                        "AZURE_POD_IDENTITY_AUTHORITY_HOST"};
constexpr std::array<std::string_view, 8> kAuthAgents = {
    "SSH_AUTH_SOCK", "SSH_AGENT_PID",  "GPG_AGENT_INFO", "GNUPGHOME", "DBUS_SESSION_BUS_ADDRESS",
    "DOCKER_HOST",   "CONTAINER_HOST", "PODMAN_HOST"};
constexpr std::array<std::string_view, 3> kSupervisorPrefixes = {"AA_", "AASM_", "AGENT_ASSEMBLY_"};
constexpr std::array<std::string_view, 7> kCloudPrefixes = {"AWS_",    "AZURE_",  "GCP_", "GCLOUD_",
                                                            "GOOGLE_", "ALIYUN_", "OCI_"};
constexpr std::array<std::string_view, 3> kCloudNames = {"KUBECONFIG", "BOTO_CONFIG",
                                                         "CLOUDSDK_CONFIG"};
constexpr std::array<std::string_view, 3> kConnectionSuffixes = {"_URL", "_URI", "_DSN"};
constexpr std::array<std::string_view, 7> kSecretFragments = {"TOKEN", "KEY",  "SECRET", "PASSWORD",
                                                              "PASS",  "CRED", "AUTH"};

template <std::size_t N>
bool is_one_of(std::string_view name, const std::array<std::string_view, N>& list) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

template <std::size_t N>
bool starts_with_one_of(std::string_view name, const std::array<std::string_view, N>& list) {
  return std::any_of(list.begin(), list.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

template <std::size_t N>
bool ends_with_one_of(std::string_view name, const std::array<std::string_view, N>& list) {
  return std::any_of(list.begin(), list.end(),
                     [&](std::string_view suffix) { return name.ends_with(suffix); });
}

bool holds_secret_fragment(std::string_view name) {
  return std::any_of(kSecretFragments.begin(), kSecretFragments.end(), [&](std::string_view part) {
    return name.find(part) != std::string_view::npos;
  });
}

std::string upper(std::string_view name) {
  std::string result(name);
  for (char& c : result) {
    c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  return result;
}

// Names go into records, which are text and have a size. A name may have 128 KiB (execve(2)).
std::string recordable(std::string_view name) {
  constexpr std::size_t kMaxBytes = 1024;
  constexpr std::size_t kShownBytes = 256;
  if (name.size() > kMaxBytes) {
    return schema::escape_for_display(name.substr(0, kShownBytes)) + "... (a name of " +
           std::to_string(name.size()) + " bytes)";
  }
  return schema::is_valid_utf8(name) ? std::string(name) : schema::escape_for_display(name);
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

}  // namespace

std::optional<SensitiveKind> sensitive_kind(std::string_view name) {
  const std::string text = upper(name);
  if (is_one_of(text, kMetadata)) {
    return SensitiveKind::kMetadataEndpoint;
  }
  if (is_one_of(text, kAuthAgents)) {
    return SensitiveKind::kAuthAgent;
  }
  const bool secret = holds_secret_fragment(text);
  if (secret && starts_with_one_of(text, kSupervisorPrefixes)) {
    return SensitiveKind::kSupervisorCredential;
  }
  if (is_one_of(text, kCloudNames) || (secret && starts_with_one_of(text, kCloudPrefixes))) {
    return SensitiveKind::kCloudCredential;
  }
  if (ends_with_one_of(text, kConnectionSuffixes)) {
    return SensitiveKind::kConnectionString;
  }
  return secret ? std::optional(SensitiveKind::kServiceToken) : std::nullopt;
}

EnvironmentPlan plan_environment(const std::vector<std::string>& environment,
                                 const CredentialGrants& grants) {
  EnvironmentPlan plan;
  plan.descriptors = descriptors_of(grants);
  for (const std::string& entry : environment) {
    const std::string_view name = std::string_view(entry).substr(0, entry.find('='));
    const std::optional<SensitiveKind> kind = sensitive_kind(name);
    if (!grants.environment) {
      plan.environment.push_back(entry);
      if (kind) {
        plan.posture.ambient_unremoved.push_back(recordable(name));
      }
      continue;
    }
    const std::vector<std::string>& named = *grants.environment;
    const bool passes = entry.find('=') != std::string::npos &&
                        std::find(named.begin(), named.end(), name) != named.end() &&
                        kind != SensitiveKind::kSupervisorCredential;
    if (passes) {
      plan.environment.push_back(entry);
    }
    (passes ? plan.posture.delegated : plan.posture.removed).push_back(recordable(name));
  }
  sort_unique(plan.posture.removed);
  sort_unique(plan.posture.delegated);
  take_out(plan.posture.removed, plan.posture.delegated);
  sort_unique(plan.posture.ambient_unremoved);
  return plan;
}

}  // namespace aasm::planner
