#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "aasm/schema/enum_names.h"

// Words for what a program would inherit from its launcher (docs/spec/product.md section 4).
namespace aasm::schema {

// What the name of an environment variable says about its value. A lower bound: a name that looks
// like nothing proves nothing.
enum class SensitiveKind : std::uint8_t {
  kMetadataEndpoint,
  kAuthAgent,
  kSupervisorCredential,
  kCloudCredential,
  kConnectionString,
  kCredentialFile,
  kServiceToken,
};
template <>
struct EnumNames<SensitiveKind> {
  static constexpr std::string_view kWhat = "sensitive kind";
  static constexpr std::array<std::pair<SensitiveKind, std::string_view>, 7> kTokens = {{
      {SensitiveKind::kMetadataEndpoint, "cloud_metadata_endpoint"},
      {SensitiveKind::kAuthAgent, "delegated_auth_agent"},
      {SensitiveKind::kSupervisorCredential, "supervisor_credential"},
      {SensitiveKind::kCloudCredential, "cloud_credential"},
      {SensitiveKind::kConnectionString, "connection_string"},
      {SensitiveKind::kCredentialFile, "credential_file"},
      {SensitiveKind::kServiceToken, "service_token"},
  }};
};

// What happens to one piece of ambient authority at the start of the program. `removed` is only
// said of what does not reach it.
enum class AuthorityFate : std::uint8_t {
  kRemoved,
  kDelegated,
  kAmbientUnremoved,
};
template <>
struct EnumNames<AuthorityFate> {
  static constexpr std::string_view kWhat = "authority fate";
  static constexpr std::array<std::pair<AuthorityFate, std::string_view>, 3> kTokens = {{
      {AuthorityFate::kRemoved, "removed"},
      {AuthorityFate::kDelegated, "delegated"},
      {AuthorityFate::kAmbientUnremoved, "ambient_unremoved"},
  }};
};

// What an open descriptor refers to.
enum class DescriptorKind : std::uint8_t {
  kFile,
  kDirectory,
  kPipe,
  kSocket,
  kTerminal,
  kDevice,
  kMemfd,
  kAnonymous,  // eventfd, epoll, pidfd and the like
};
template <>
struct EnumNames<DescriptorKind> {
  static constexpr std::string_view kWhat = "descriptor kind";
  static constexpr std::array<std::pair<DescriptorKind, std::string_view>, 8> kTokens = {{
      {DescriptorKind::kFile, "file"},
      {DescriptorKind::kDirectory, "directory"},
      {DescriptorKind::kPipe, "pipe"},
      {DescriptorKind::kSocket, "socket"},
      {DescriptorKind::kTerminal, "terminal"},
      {DescriptorKind::kDevice, "device"},
      {DescriptorKind::kMemfd, "memfd"},
      {DescriptorKind::kAnonymous, "anonymous"},
  }};
};

}  // namespace aasm::schema
