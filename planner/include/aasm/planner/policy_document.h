#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "aasm/planner/yaml_tree.h"
#include "aasm/schema/plan_vocabulary.h"
#include "aasm/schema/vocabulary.h"

// A policy document as stated (docs/spec/policy.md), every value checked by itself, nothing
// lowered. An optional that is empty was not stated; a list that is there may hold no entry, which
// says that nothing is permitted. The two are never confused.
namespace aasm::planner {

// One entry of a list. `index` is its place in the document, whatever was dropped before it.
struct TextEntry {
  std::string text;
  std::size_t index = 0;
  Position at;
};
struct TextList {
  Position at;
  std::vector<TextEntry> entries;
};

struct NumberEntry {
  std::int64_t value = 0;
  std::size_t index = 0;
  Position at;
};
struct NumberList {
  Position at;
  std::vector<NumberEntry> entries;
};

// Entries are paths as policy_path() gives them.
struct FilesystemNode {
  Position at;
  std::optional<TextList> read;
  std::optional<TextList> write;
  std::optional<TextList> execute;
  std::optional<TextList> deny;  // reading, writing and executing
  std::optional<TextList> read_deny;
  std::optional<TextList> write_deny;
};

struct EgressEntry {
  std::string host;
  std::vector<std::int64_t> ports;
  std::string protocol = "tcp";
  std::size_t index = 0;
  Position at;
};
struct EgressList {
  Position at;
  std::vector<EgressEntry> entries;
};

// Host patterns of `allowlist` are lower case and carry their port.
struct NetworkNode {
  Position at;
  std::optional<TextList> allowlist;
  std::optional<EgressList> egress;
  std::optional<TextList> bind;
  bool kills = false;  // on_denial: kill
  bool on_denial_stated = false;
};

struct NameResolutionNode {
  Position at;
  std::optional<TextList> allow;
};

struct SyscallsNode {
  Position at;
  std::optional<TextList> allow;
  std::optional<TextList> deny;
  std::string on_denial = "errno";
  bool on_denial_stated = false;
};

struct ProcessesNode {
  Position at;
  std::optional<NumberEntry> max;
};

struct IpcNode {
  Position at;
  std::optional<TextList> unix_sockets;
  std::vector<TextEntry> settings;  // "abstract_sockets=deny", in the order of the document
};

struct CredentialsNode {
  Position at;
  std::optional<TextList> environment;
  std::optional<NumberList> descriptors;
};

struct LimitEntry {
  std::string name;
  std::int64_t value = 0;
  Position at;
};
struct ResourcesNode {
  Position at;
  std::vector<LimitEntry> limits;
};

struct CapabilitiesNode {
  Position at;
  std::optional<TextList> allow;
  std::optional<TextList> deny;
};

struct PostureNode {
  schema::RequirementPosture fallback = schema::RequirementPosture::kRequired;
  bool fallback_stated = false;
  std::map<schema::Domain, schema::RequirementPosture> domains;
  std::map<schema::Domain, Position> places;
};

// The evidence that is asked for: `filesystem` of both of its domains, unless one is named itself.
struct EvidenceNode {
  std::optional<schema::EvidenceWish> filesystem;
  Position filesystem_at;
  std::map<schema::Domain, schema::EvidenceWish> domains;
  std::map<schema::Domain, Position> places;
  std::optional<schema::WitnessWish> witness;

  schema::EvidenceWish wish(schema::Domain domain) const;
};

// What the document says of itself. Entries of `extends` are file names as written, `${HOME}` at
// their start replaced.
struct MetadataNode {
  Position at;  // of the node, else the document's start
  std::optional<schema::PolicyScope> scope;
  std::optional<TextList> extends;
};

// A node that is known and belongs to no execution domain.
struct UnmappedNode {
  std::string key;
  Position at;
};

struct PolicyDocument {
  MetadataNode metadata;
  std::optional<FilesystemNode> filesystem;
  std::optional<NetworkNode> network;
  std::optional<NameResolutionNode> name_resolution;
  std::optional<SyscallsNode> syscalls;
  std::optional<ProcessesNode> processes;
  std::optional<IpcNode> ipc;
  std::optional<CredentialsNode> credentials;
  std::optional<ResourcesNode> resources;
  std::optional<CapabilitiesNode> capabilities;
  PostureNode posture;
  EvidenceNode evidence;
  std::vector<UnmappedNode> unmapped;
  bool tools_allow_all = false;  // tools: {"*": {allow: true}} and no other tool
};

}  // namespace aasm::planner
