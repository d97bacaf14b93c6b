#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "aasm/planner/environment.h"

// What names of environment variables say of their values. The lists of the reference
// implementation (upstream contract 6.1), and what field reports added to them.
namespace aasm::planner {
namespace {

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
// Sockets and helpers that act with somebody's credentials when they are asked.
constexpr std::array kAuthAgents = {std::string_view("SSH_AUTH_SOCK"),
                                    std::string_view("SSH_AGENT_PID"),
                                    std::string_view("GPG_AGENT_INFO"),
                                    std::string_view("GNUPGHOME"),
                                    std::string_view("DBUS_SESSION_BUS_ADDRESS"),
                                    std::string_view("DBUS_SYSTEM_BUS_ADDRESS"),
                                    std::string_view("DOCKER_HOST"),
                                    std::string_view("DOCKER_CONTEXT"),
                                    std::string_view("CONTAINER_HOST"),
                                    std::string_view("PODMAN_HOST"),
                                    std::string_view("SSH_ASKPASS"),
                                    std::string_view("GIT_ASKPASS"),
                                    std::string_view("SUDO_ASKPASS"),
                                    std::string_view("GNOME_KEYRING_CONTROL")};
// Paths of files that hold credentials, or of folders with such files.
constexpr std::array kCredentialFiles = {std::string_view("XAUTHORITY"),
                                         std::string_view("ICEAUTHORITY"),
                                         std::string_view("NETRC"),
                                         std::string_view("PGPASSFILE"),
                                         std::string_view("KRB5CCNAME"),
                                         std::string_view("KRB5_KTNAME"),
                                         std::string_view("DOCKER_CONFIG"),
                                         std::string_view("DOCKER_CERT_PATH"),
                                         std::string_view("REGISTRY_AUTH_FILE"),
                                         std::string_view("NPM_CONFIG_USERCONFIG"),
                                         std::string_view("PIP_CONFIG_FILE"),
                                         std::string_view("GIT_CONFIG_GLOBAL"),
                                         std::string_view("GH_CONFIG_DIR")};
constexpr std::array<std::string_view, 3> kSupervisorPrefixes = {"AA_", "AASM_", "AGENT_ASSEMBLY_"};
constexpr std::array<std::string_view, 7> kCloudPrefixes = {"AWS_",    "AZURE_",  "GCP_", "GCLOUD_",
                                                            "GOOGLE_", "ALIYUN_", "OCI_"};
constexpr std::array<std::string_view, 5> kCloudNames = {
    "KUBECONFIG", "BOTO_CONFIG", "CLOUDSDK_CONFIG", "AWS_PROFILE", "AWS_CONFIG_FILE"};
// Settings among the AWS_ names; every other is taken for a credential or the way to one.
constexpr std::array<std::string_view, 8> kAwsSettings = {
    "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_DEFAULT_OUTPUT", "AWS_CA_BUNDLE",
    "AWS_PAGER",  "AWS_RETRY_MODE",     "AWS_MAX_ATTEMPTS",   "AWS_STS_REGIONAL_ENDPOINTS"};
// Addresses carry a user and a password where somebody put them.
constexpr std::array<std::string_view, 4> kConnectionSuffixes = {"_URL", "_URI", "_DSN", "_PROXY"};
constexpr std::array<std::string_view, 9> kSecretFragments = {
    "TOKEN", "KEY", "SECRET", "PASSWORD", "PASS", "CRED", "AUTH", "PRIVATE", "COOKIE"};
constexpr std::array<std::string_view, 4> kSecretSuffixes = {"_PWD", "_PAT", "_JWT", "_BEARER"};

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

}  // namespace

std::optional<SensitiveKind> sensitive_kind(std::string_view name) {
  const std::string text = upper(name);
  if (is_one_of(text, kMetadata)) {
    return SensitiveKind::kMetadataEndpoint;
  }
  if (is_one_of(text, kAuthAgents)) {
    return SensitiveKind::kAuthAgent;
  }
  const bool secret = holds_secret_fragment(text) || ends_with_one_of(text, kSecretSuffixes);
  if (secret && starts_with_one_of(text, kSupervisorPrefixes)) {
    return SensitiveKind::kSupervisorCredential;
  }
  const bool aws = text.starts_with("AWS_") && !is_one_of(text, kAwsSettings);
  if (aws || is_one_of(text, kCloudNames) || (secret && starts_with_one_of(text, kCloudPrefixes))) {
    return SensitiveKind::kCloudCredential;
  }
  if (is_one_of(text, kCredentialFiles)) {
    return SensitiveKind::kCredentialFile;
  }
  if (ends_with_one_of(text, kConnectionSuffixes) && text != "NO_PROXY") {
    return SensitiveKind::kConnectionString;
  }
  return secret ? std::optional(SensitiveKind::kServiceToken) : std::nullopt;
}

}  // namespace aasm::planner
