#include <array>
#include <string>
#include <utility>

#include "decode_nodes.h"
#include "limit_names.h"
#include "shapes.h"

// The nodes of the network, names, processes, ipc and resources. All are read as strictly as the
// others: a statement that no backend carries out is refused at planning, never passed over.
namespace aasm::planner {
namespace {

constexpr std::int64_t kMaxWhole = 9007199254740991;  // 2^53-1, the largest integer of a record
constexpr std::int64_t kMaxPort = 65535;

std::vector<std::int64_t> port_list(Decoder& decoder, const YamlNode& node,
                                    const std::string& where) {
  std::vector<std::int64_t> ports;
  if (!decoder.is_list(node, where)) {
    return ports;
  }
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    const std::string entry = where + "[" + std::to_string(i) + "]";
    if (const auto port = decoder.number(node.items[i], entry, 1, kMaxPort)) {
      ports.push_back(*port);
    }
  }
  if (node.items.empty()) {
    decoder.report(node.at, where + " names no port; name one, or remove the entry");
  }
  return ports;
}

EgressEntry egress_entry(Decoder& decoder, const YamlNode& node, std::size_t index) {
  EgressEntry out;
  out.index = index;
  out.at = node.at;
  const std::string where = "network.egress[" + std::to_string(index) + "]";
  bool host_stated = false;
  bool ports_stated = false;
  decoder.read_map(
      node, where,
      {{"host",
        [&](const YamlMember& member) {
          host_stated = true;
          const auto text = decoder.text(member.value, where + ".host");
          if (!text) {
            return;
          }
          schema::Result<std::string> host = host_or_range(*text);
          if (host) {
            out.host = *host;
          } else {
            decoder.report(member.value.at, where + ".host: " + host.error().message());
          }
        }},
       {"ports",
        [&](const YamlMember& member) {
          ports_stated = true;
          out.ports = port_list(decoder, member.value, where + ".ports");
        }},
       {"protocol", [&](const YamlMember& member) {
          out.protocol = decoder.word(member.value, where + ".protocol", {"tcp", "udp"})
                             .value_or(out.protocol);
        }}});
  if (node.kind == YamlNode::Kind::kMap && (!host_stated || !ports_stated)) {
    decoder.report(node.at, where + " needs `host` and `ports`");
  }
  return out;
}

std::optional<EgressList> egress_list(Decoder& decoder, const YamlNode& node) {
  if (!decoder.is_list(node, "network.egress")) {
    return std::nullopt;
  }
  EgressList list;
  list.at = node.at;
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    list.entries.push_back(egress_entry(decoder, node.items[i], i));
  }
  return list;
}

}  // namespace

void decode_network(Decoder& decoder, const YamlNode& node, PolicyDocument& document) {
  NetworkNode out;
  out.at = node.at;
  const EntryCheck host = [](const std::string& text) { return host_pattern(text); };
  const EntryCheck bind = [](const std::string& text) { return address_and_port(text); };
  decoder.read_map(
      node, "network",
      {{"allowlist",
        [&](const YamlMember& member) {
          out.allowlist = decoder.text_list(member.value, "network.allowlist", host);
        }},
       {"egress",
        [&](const YamlMember& member) { out.egress = egress_list(decoder, member.value); }},
       {"bind",
        [&](const YamlMember& member) {
          out.bind = decoder.allow_list(member.value, "network.bind", bind);
        }},
       {"on_denial", [&](const YamlMember& member) {
          out.on_denial_stated = true;
          out.kills = decoder.word(member.value, "network.on_denial", {"errno", "kill"}) == "kill";
        }}});
  document.network = std::move(out);
}

void decode_name_resolution(Decoder& decoder, const YamlNode& node, PolicyDocument& document) {
  NameResolutionNode out;
  out.at = node.at;
  const EntryCheck name = [](const std::string& text) { return host_name_pattern(text); };
  out.allow = decoder.allow_list(node, "name_resolution", name);
  document.name_resolution = std::move(out);
}

void decode_processes(Decoder& decoder, const YamlNode& node, PolicyDocument& document) {
  ProcessesNode out;
  out.at = node.at;
  decoder.read_map(node, "processes", {{"max", [&](const YamlMember& member) {
                                          if (const auto value = decoder.number(
                                                  member.value, "processes.max", 1, kMaxWhole)) {
                                            out.max = NumberEntry{*value, 0, member.value.at};
                                          }
                                        }}});
  document.processes = out;
}

void decode_ipc(Decoder& decoder, const YamlNode& node, const DecodeContext& context,
                PolicyDocument& document) {
  IpcNode out;
  out.at = node.at;
  const EntryCheck path = [&](const std::string& text) { return policy_path(text, context.paths); };
  const auto setting = [&](const char* key, const char* only) {
    return KeyReader{
        key, [&decoder, &out, key, only](const YamlMember& member) {
          const std::string where = std::string("ipc.") + key;
          if (const auto value = decoder.word(member.value, where, {only})) {
            out.settings.push_back({std::string(key) + "=" + *value, 0, member.value.at});
          }
        }};
  };
  decoder.read_map(node, "ipc",
                   {{"unix_sockets",
                     [&](const YamlMember& member) {
                       out.unix_sockets =
                           decoder.allow_list(member.value, "ipc.unix_sockets", path);
                     }},
                    setting("abstract_sockets", "deny"),
                    setting("signals", "inside"),
                    setting("shared_memory", "inside")});
  document.ipc = std::move(out);
}

void decode_resources(Decoder& decoder, const YamlNode& node, PolicyDocument& document) {
  ResourcesNode out;
  out.at = node.at;
  std::vector<KeyReader> readers;
  readers.reserve(kLimitNames.size());
  for (const char* key : kLimitNames) {
    readers.push_back({key, [&decoder, &out, key](const YamlMember& member) {
                         const std::string where = std::string("resources.") + key;
                         if (const auto value = decoder.number(member.value, where, 1, kMaxWhole)) {
                           out.limits.push_back({key, *value, member.value.at});
                         }
                       }});
  }
  decoder.read_map(node, "resources", readers);
  document.resources = std::move(out);
}

}  // namespace aasm::planner
