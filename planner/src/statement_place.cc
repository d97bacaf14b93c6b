#include <algorithm>
#include <charconv>

#include "aasm/planner/lint.h"

namespace aasm::planner {
namespace {

const std::optional<TextList>* list_named(const PolicyDocument& document, std::string_view node) {
  const auto in = [&](std::string_view prefix) { return node.starts_with(prefix); };
  if (document.filesystem && in("filesystem.")) {
    const FilesystemNode& files = *document.filesystem;
    return node == "filesystem.read.allow"      ? &files.read
           : node == "filesystem.write.allow"   ? &files.write
           : node == "filesystem.execute.allow" ? &files.execute
           : node == "filesystem.deny"          ? &files.deny
           : node == "filesystem.read.deny"     ? &files.read_deny
           : node == "filesystem.write.deny"    ? &files.write_deny
                                                : nullptr;
  }
  if (document.network && in("network.")) {
    return node == "network.allowlist"    ? &document.network->allowlist
           : node == "network.bind.allow" ? &document.network->bind
                                          : nullptr;
  }
  if (document.syscalls && in("syscalls.")) {
    return node == "syscalls.allow" ? &document.syscalls->allow : &document.syscalls->deny;
  }
  if (document.capabilities && in("capabilities.")) {
    return node == "capabilities.allow" ? &document.capabilities->allow
                                        : &document.capabilities->deny;
  }
  if (document.name_resolution && node == "name_resolution.allow") {
    return &document.name_resolution->allow;
  }
  if (document.ipc && node == "ipc.unix_sockets.allow") {
    return &document.ipc->unix_sockets;
  }
  if (document.credentials && node == "credentials.environment.allow") {
    return &document.credentials->environment;
  }
  return nullptr;
}

template <class Entries>
std::optional<Position> position_in(const Entries& entries, std::size_t index) {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const auto& entry) { return entry.index == index; });
  return found == entries.end() ? std::nullopt : std::optional<Position>(found->at);
}

std::optional<Position> position_of_entry(const PolicyDocument& document, std::string_view node,
                                          std::size_t index) {
  if (const std::optional<TextList>* list = list_named(document, node); list && *list) {
    return position_in((*list)->entries, index);
  }
  if (document.network && document.network->egress && node == "network.egress") {
    return position_in(document.network->egress->entries, index);
  }
  if (document.credentials && document.credentials->descriptors &&
      node == "credentials.descriptors.allow") {
    return position_in(document.credentials->descriptors->entries, index);
  }
  return std::nullopt;
}

// Takes "org:" from the front of an id: the document of that scope, else the policy's own.
const LoadedDocument* document_of(const ResolvedPolicy& policy, std::string_view& id) {
  for (const LoadedDocument& one : policy.documents) {
    const std::string prefix =
        one.document.metadata.scope ? std::string(token(*one.document.metadata.scope)) + ":" : "";
    if (policy.documents.size() > 1 && !prefix.empty() && id.starts_with(prefix)) {
      id.remove_prefix(prefix.size());
      return &one;
    }
  }
  return policy.documents.size() == 1 ? &policy.documents.front() : nullptr;
}

}  // namespace

std::optional<SourceProblem> statement_place(const ResolvedPolicy& policy, std::string_view id) {
  const LoadedDocument* document = document_of(policy, id);
  const std::size_t open = id.find('[');
  if (document == nullptr || open == std::string_view::npos) {
    return std::nullopt;
  }
  std::size_t index = 0;
  const char* end = id.data() + id.size();
  const auto [stop, fault] = std::from_chars(id.data() + open + 1, end, index);
  if (fault != std::errc() || stop == end || *stop != ']') {
    return std::nullopt;
  }
  const std::optional<Position> at =
      position_of_entry(document->document, id.substr(0, open), index);
  return at ? std::optional<SourceProblem>({document->path, at, ""}) : std::nullopt;
}

}  // namespace aasm::planner
