#include "decode_nodes.h"

#include <array>
#include <set>
#include <string>
#include <utility>

#include "shapes.h"

namespace aasm::planner {
namespace {

using schema::Domain;
using schema::EvidenceWish;
using schema::RequirementPosture;

constexpr std::int64_t kMaxDescriptor = 1048575;  // what NR_OPEN allows at most by default

std::optional<NumberList> descriptor_list(Decoder& decoder, const YamlNode& node,
                                          const std::string& where) {
  if (!decoder.is_list(node, where)) {
    return std::nullopt;
  }
  NumberList list;
  list.at = node.at;
  std::set<std::int64_t> seen;
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    const std::string entry = where + "[" + std::to_string(i) + "]";
    const std::optional<std::int64_t> value =
        decoder.number(node.items[i], entry, 0, kMaxDescriptor);
    if (value && seen.insert(*value).second) {
      list.entries.push_back({*value, i, node.items[i].at});
    }
  }
  return list;
}

}  // namespace

void decode_filesystem(Decoder& decoder, const YamlNode& node, const DecodeContext& context,
                       PolicyDocument& document) {
  FilesystemNode out;
  out.at = node.at;
  const EntryCheck path = [&](const std::string& text) { return policy_path(text, context.paths); };
  const auto allow = [&](const char* verb, std::optional<TextList>& into) {
    const std::string where = std::string("filesystem.") + verb;
    return KeyReader{verb, [&decoder, &path, &into, where](const YamlMember& member) {
                       into = decoder.allow_list(member.value, where, path);
                     }};
  };
  const auto both = [&](const char* verb, std::optional<TextList>& allowed,
                        std::optional<TextList>& denied) {
    const std::string where = std::string("filesystem.") + verb;
    return KeyReader{verb, [&decoder, &path, &allowed, &denied, where](const YamlMember& member) {
                       decoder.allow_and_deny(member.value, where, path, allowed, denied);
                     }};
  };
  decoder.read_map(node, "filesystem",
                   {both("read", out.read, out.read_deny),
                    both("write", out.write, out.write_deny),
                    allow("execute", out.execute),
                    {"deny", [&](const YamlMember& member) {
                       out.deny = decoder.text_list(member.value, "filesystem.deny", path);
                     }}});
  if (out.execute && !out.read) {
    decoder.report(out.execute->at,
                   "filesystem.execute is stated and filesystem.read is not; a program that may "
                   "not be read cannot be executed, so state filesystem.read.allow too");
  }
  document.filesystem = std::move(out);
}

void decode_syscalls(Decoder& decoder, const YamlNode& node, const DecodeContext& context,
                     PolicyDocument& document) {
  SyscallsNode out;
  out.at = node.at;
  const EntryCheck name = [&](const std::string& text) {
    return syscall_name(text, context.vocabulary);
  };
  decoder.read_map(node, "syscalls",
                   {{"allow",
                     [&](const YamlMember& member) {
                       out.allow = decoder.text_list(member.value, "syscalls.allow", name);
                     }},
                    {"deny",
                     [&](const YamlMember& member) {
                       out.deny = decoder.text_list(member.value, "syscalls.deny", name);
                     }},
                    {"on_denial", [&](const YamlMember& member) {
                       out.on_denial_stated = true;
                       out.on_denial =
                           decoder.word(member.value, "syscalls.on_denial", {"errno", "kill"})
                               .value_or(out.on_denial);
                     }}});
  document.syscalls = std::move(out);
}

void decode_credentials(Decoder& decoder, const YamlNode& node, PolicyDocument& document) {
  CredentialsNode out;
  out.at = node.at;
  const EntryCheck name = [](const std::string& text) { return environment_name(text); };
  decoder.read_map(
      node, "credentials",
      {{"environment",
        [&](const YamlMember& member) {
          out.environment = decoder.allow_list(member.value, "credentials.environment", name);
        }},
       {"descriptors", [&](const YamlMember& member) {
          const std::string where = "credentials.descriptors";
          decoder.read_map(member.value, where, {{"allow", [&](const YamlMember& list) {
                                                    out.descriptors = descriptor_list(
                                                        decoder, list.value, where + ".allow");
                                                  }}});
        }}});
  document.credentials = std::move(out);
}

void decode_posture(Decoder& decoder, const YamlNode& node, PolicyDocument& document) {
  std::vector<KeyReader> readers = {
      {"default", [&](const YamlMember& member) {
         const auto value = decoder.token<RequirementPosture>(member.value, "posture.default");
         document.posture.fallback = value.value_or(document.posture.fallback);
         document.posture.fallback_stated = true;
       }}};
  for (const auto& entry : schema::EnumNames<Domain>::kTokens) {
    const Domain domain = entry.first;
    const std::string name(entry.second);
    readers.push_back({name, [&decoder, &document, domain, name](const YamlMember& member) {
                         const auto value =
                             decoder.token<RequirementPosture>(member.value, "posture." + name);
                         if (value) {
                           document.posture.domains[domain] = *value;
                           document.posture.places[domain] = member.key_at;
                         }
                       }});
  }
  decoder.read_map(node, "posture", readers);
}

void decode_evidence(Decoder& decoder, const YamlMember& member, PolicyDocument& document) {
  EvidenceNode& out = document.evidence;
  std::vector<KeyReader> readers = {
      {"filesystem",
       [&](const YamlMember& wish) {
         out.filesystem = decoder.token<EvidenceWish>(wish.value, "evidence.filesystem");
         out.filesystem_at = wish.key_at;
       }},
      {"witness", [&](const YamlMember& wish) {
         out.witness = decoder.token<schema::WitnessWish>(wish.value, "evidence.witness");
       }}};
  for (const auto& entry : schema::EnumNames<Domain>::kTokens) {
    const Domain domain = entry.first;
    const std::string where = "evidence." + std::string(entry.second);
    readers.push_back({std::string(entry.second), [&, domain, where](const YamlMember& wish) {
                         const auto word = decoder.word(wish.value, where, {"setup", "decisions"});
                         const auto value = schema::parse_token<EvidenceWish>(word.value_or(""));
                         if (word && value) {
                           out.domains[domain] = *value;
                           out.places[domain] = wish.key_at;
                         }
                       }});
  }
  decoder.read_map(member.value, "evidence", readers);
}

void decode_capabilities(Decoder& decoder, const YamlNode& node, PolicyDocument& document) {
  CapabilitiesNode out;
  out.at = node.at;
  const EntryCheck name = [](const std::string& text) { return capability_name(text); };
  decoder.read_map(node, "capabilities",
                   {{"allow",
                     [&](const YamlMember& member) {
                       out.allow = decoder.text_list(member.value, "capabilities.allow", name);
                     }},
                    {"deny", [&](const YamlMember& member) {
                       out.deny = decoder.text_list(member.value, "capabilities.deny", name);
                     }}});
  document.capabilities = std::move(out);
}

}  // namespace aasm::planner
