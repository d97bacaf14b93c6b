#include <string>

#include "aasm/schema/utf8.h"

#include "decode_nodes.h"

namespace aasm::planner {
namespace {

using schema::Error;
using schema::ErrorCode;
using schema::Result;

constexpr std::string_view kHome = "${HOME}/";

// The name of another document. Relative ones are joined to this document's directory later.
Result<std::string> document_name(const std::string& text, const PathContext& paths) {
  const auto bad = [&](const char* why) {
    return Error(ErrorCode::kMalformed, "`" + schema::escape_for_display(text) + "` " + why);
  };
  if (text.empty()) {
    return Error(ErrorCode::kMalformed, "an empty name");
  }
  const bool home = text.starts_with(kHome);
  if (text.find("${", home ? kHome.size() : 0) != std::string::npos) {
    return bad("uses a variable where none is read; `${HOME}/` is known, at the start");
  }
  if (text.front() == '~') {
    return bad("starts with `~`; write `${HOME}` for the home directory");
  }
  if (text.find('\0') != std::string::npos) {
    return bad("holds a NUL byte");
  }
  if (!home) {
    return text;
  }
  if (!paths.home) {
    return bad("needs a home directory and none is known here; write the path out");
  }
  return *paths.home + text.substr(kHome.size() - 1);
}

}  // namespace

void decode_metadata(Decoder& decoder, const YamlNode& node, const DecodeContext& context,
                     PolicyDocument& document) {
  document.metadata.at = node.at;
  const auto text = [&](const char* key) {
    return KeyReader{key, [&decoder, key](const YamlMember& member) {
                       if (member.value.kind != YamlNode::Kind::kScalar) {
                         decoder.report(member.value.at, std::string("metadata.") + key +
                                                             " has to be text and is " +
                                                             std::string(kind_name(member.value)));
                       }
                     }};
  };
  const EntryCheck name = [&](const std::string& one) { return document_name(one, context.paths); };
  const KeyReader extends = {"extends", [&](const YamlMember& member) {
                               document.metadata.extends =
                                   decoder.text_list(member.value, "metadata.extends", name);
                             }};
  const KeyReader scope = {"scope", [&](const YamlMember& member) {
                             document.metadata.scope =
                                 decoder.token<schema::PolicyScope>(member.value, "metadata.scope");
                           }};
  decoder.read_map(node, "metadata",
                   {text("name"), text("version"), text("description"), extends, scope});
}

}  // namespace aasm::planner
