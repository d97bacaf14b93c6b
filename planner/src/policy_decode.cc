#include "aasm/planner/policy_decode.h"

#include <algorithm>
#include <utility>

#include "aasm/planner/suggest.h"
#include "aasm/schema/utf8.h"

#include "decode_nodes.h"
#include "decoder.h"

namespace aasm::planner {
namespace {

constexpr std::size_t kShownProblems = 20;
constexpr const char* kApiVersion = "agent-assembly/v1";

const YamlMember* member_of(const YamlNode& node, std::string_view key) {
  const auto found = std::find_if(node.members.begin(), node.members.end(),
                                  [&](const YamlMember& member) { return member.key == key; });
  return found == node.members.end() ? nullptr : &*found;
}

// tools: {"*": {allow: true}}, which the reference writes for "everything is allowed".
bool allows_all_tools(const YamlNode& tools) {
  if (tools.kind != YamlNode::Kind::kMap || tools.members.size() != 1 ||
      tools.members.front().key != "*") {
    return false;
  }
  const YamlNode& rule = tools.members.front().value;
  const YamlMember* allow = member_of(rule, "allow");
  return rule.members.size() == 1 && allow != nullptr && !allow->value.quoted &&
         allow->value.text == "true";
}

std::vector<KeyReader> spec_readers(Decoder& decoder, const DecodeContext& context,
                                    PolicyDocument& document) {
  const auto node = [&](const char* key, void (*read)(Decoder&, const YamlNode&, PolicyDocument&)) {
    return KeyReader{key, [&decoder, &document, read](const YamlMember& member) {
                       read(decoder, member.value, document);
                     }};
  };
  const auto with_context =
      [&](const char* key,
          void (*read)(Decoder&, const YamlNode&, const DecodeContext&, PolicyDocument&)) {
        return KeyReader{key, [&decoder, &context, &document, read](const YamlMember& member) {
                           read(decoder, member.value, context, document);
                         }};
      };
  const auto unmapped = [&](const char* key) {
    return KeyReader{key, [&document](const YamlMember& member) {
                       document.unmapped.push_back({member.key, member.key_at});
                       document.tools_allow_all |=
                           member.key == "tools" && allows_all_tools(member.value);
                     }};
  };
  return {
      with_context("filesystem", decode_filesystem),
      node("network", decode_network),
      node("name_resolution", decode_name_resolution),
      with_context("syscalls", decode_syscalls),
      node("processes", decode_processes),
      with_context("ipc", decode_ipc),
      node("credentials", decode_credentials),
      node("resources", decode_resources),
      node("capabilities", decode_capabilities),
      node("posture", decode_posture),
      {"evidence", [&](const YamlMember& member) { decode_evidence(decoder, member, document); }},
      unmapped("tools"),
      unmapped("budget"),
      unmapped("schedule"),
      unmapped("data"),
      unmapped("approval"),
      unmapped("approval_timeout_secs"),
      unmapped("scope"),
      unmapped("version")};
}

void expect_value(Decoder& decoder, const YamlNode& root, const char* key, const char* wanted) {
  const YamlMember* member = member_of(root, key);
  if (member == nullptr) {
    decoder.report(root.at, std::string("`") + key + "` is missing; an enveloped policy says " +
                                key + ": " + wanted);
    return;
  }
  decoder.word(member->value, key, {wanted});
}

bool is_envelope(const YamlNode& root) {
  return member_of(root, "apiVersion") != nullptr || member_of(root, "kind") != nullptr ||
         member_of(root, "spec") != nullptr;
}

void decode_envelope(Decoder& decoder, const YamlNode& root, const DecodeContext& context,
                     PolicyDocument& document) {
  const std::vector<KeyReader> spec = spec_readers(decoder, context, document);
  const auto nothing = [](const YamlMember&) {};
  std::vector<KeyReader> top = {
      {"apiVersion", nothing},
      {"kind", nothing},
      {"metadata",
       [&](const YamlMember& member) {
         decode_metadata(decoder, member.value, context, document);
       }},
      {"spec", [&](const YamlMember& member) { decoder.read_map(member.value, "spec", spec); }}};
  for (const KeyReader& reader : spec) {
    top.push_back({reader.key, [&](const YamlMember& member) {
                     decoder.report(
                         member.key_at,
                         "`" + member.key + "` stands beside `spec`; it belongs into it");
                   }});
  }
  expect_value(decoder, root, "apiVersion", kApiVersion);
  expect_value(decoder, root, "kind", "Policy");
  if (member_of(root, "spec") == nullptr) {
    decoder.report(root.at, "`spec` is missing; the statements of a policy stand in it");
  }
  decoder.read_map(root, "the document", top);
}

void decode_flat(Decoder& decoder, const YamlNode& root, const DecodeContext& context,
                 PolicyDocument& document) {
  std::vector<KeyReader> readers = spec_readers(decoder, context, document);
  readers.push_back({"metadata", [&](const YamlMember& member) {
                       decode_metadata(decoder, member.value, context, document);
                     }});
  decoder.read_map(root, "the document", readers);
}

// What takes away and gives nothing is half a policy. A document with a scope may be: the other
// half stands in another one, which whoever puts them together sees to.
void check_halves(Decoder& decoder, const PolicyDocument& document) {
  if (document.metadata.scope) {
    return;
  }
  for (Problem& problem : missing_halves(document)) {
    decoder.report(problem.at, std::move(problem.text));
  }
}

}  // namespace

std::vector<Problem> missing_halves(const PolicyDocument& document) {
  std::vector<Problem> problems;
  if (document.filesystem) {
    const FilesystemNode& files = *document.filesystem;
    const auto half = [&](const std::optional<TextList>& deny, bool granted, const char* node,
                          const char* missing) {
      if (deny && !deny->entries.empty() && !granted) {
        problems.push_back(
            {deny->at,
             std::string(node) + " is stated without a grant to deny a part of; state " + missing});
      }
    };
    half(files.deny, files.read || files.write, "filesystem.deny",
         "filesystem.read.allow and filesystem.write.allow");
    half(files.read_deny, files.read.has_value(), "filesystem.read.deny", "filesystem.read.allow");
    half(files.write_deny, files.write.has_value(), "filesystem.write.deny",
         "filesystem.write.allow");
  }
  const std::optional<NetworkNode>& network = document.network;
  if (network && network->on_denial_stated && !network->allowlist && !network->egress &&
      !network->bind) {
    problems.push_back({network->at,
                        "network.on_denial is stated without a list, so nothing is denied; state "
                        "`allowlist`, `egress` or `bind`"});
  }
  const std::optional<SyscallsNode>& calls = document.syscalls;
  if (calls && (calls->deny || calls->on_denial_stated) && !calls->allow) {
    problems.push_back({calls->at,
                        "syscalls states no `allow` list, so every call is left open; write "
                        "allow: [\"@default\"] to start from the calls programs need"});
  }
  return problems;
}

DecodedPolicy decode_policy(std::string_view bytes, const DecodeContext& context) {
  ParsedYaml parsed = parse_yaml(bytes);
  if (!parsed.root) {
    return {std::nullopt, {std::move(*parsed.problem)}};
  }
  Decoder decoder;
  PolicyDocument document;
  if (is_envelope(*parsed.root)) {
    decode_envelope(decoder, *parsed.root, context, document);
  } else {
    decode_flat(decoder, *parsed.root, context, document);
  }
  check_halves(decoder, document);
  std::vector<Problem> problems = decoder.take_problems();
  if (!problems.empty()) {
    return {std::nullopt, std::move(problems)};
  }
  return {std::move(document), {}};
}

std::vector<SourceProblem> problems_in(const std::string& source, std::vector<Problem> problems) {
  std::vector<SourceProblem> all;
  all.reserve(problems.size());
  for (Problem& problem : problems) {
    all.push_back({source, problem.at, std::move(problem.text)});
  }
  return all;
}

std::string render_problems(const std::vector<SourceProblem>& problems) {
  std::string text;
  for (std::size_t i = 0; i < problems.size() && i < kShownProblems; ++i) {
    const SourceProblem& problem = problems[i];
    text.append(i == 0 ? "" : "\n").append(schema::escape_for_display(problem.source));
    if (problem.at) {
      text.append(":").append(std::to_string(problem.at->line));
      text.append(":").append(std::to_string(problem.at->column));
    }
    text.append(": ").append(problem.text);
  }
  if (problems.size() > kShownProblems) {
    text += "\nand " + std::to_string(problems.size() - kShownProblems) + " more";
  }
  return text;
}

}  // namespace aasm::planner
