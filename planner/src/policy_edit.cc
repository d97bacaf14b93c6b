#include "aasm/planner/policy_edit.h"

#include <algorithm>
#include <utility>

#include "aasm/planner/yaml_tree.h"

#include "yaml_text.h"

namespace aasm::planner {
namespace {

using schema::Error;
using schema::ErrorCode;
using schema::Result;

// Where the walk along the keys of a list ends.
struct Found {
  const YamlNode* node = nullptr;  // the list, or the last map on the way to it
  std::vector<std::string> missing;
};

const YamlNode* member_of(const YamlNode& map, const std::string& key) {
  const auto found = std::find_if(map.members.begin(), map.members.end(),
                                  [&key](const YamlMember& one) { return one.key == key; });
  return found == map.members.end() ? nullptr : &found->value;
}

Found walk(const YamlNode& root, const std::vector<std::string>& keys) {
  const YamlNode* spec = member_of(root, "spec");
  Found found{spec != nullptr ? spec : &root, keys};
  while (!found.missing.empty() && found.node->kind == YamlNode::Kind::kMap) {
    const YamlNode* next = member_of(*found.node, found.missing.front());
    if (next == nullptr) {
      break;
    }
    found.node = next;
    found.missing.erase(found.missing.begin());
  }
  return found;
}

std::string entry_lines(const std::vector<ListEntry>& entries, const std::string& indent,
                        const std::string& before, const std::string& between) {
  std::string text;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    text.append(indent).append("# ").append(entries[i].comment).append("\n");
    text.append(indent).append(before).append(entries[i].value);
    text.append(i + 1 < entries.size() ? between : "").append("\n");
  }
  return text;
}

// Before the bracket of a list on lines of its own: [a, b  ->  [a, b,\n    # why\n    c\n    ]
void into_flow(std::string_view text, const YamlNode& list, const std::vector<ListEntry>& entries,
               std::vector<Insertion>& out) {
  const std::size_t open = offset_at(text, list.at);
  const FlowEnd end = flow_end(text, open);
  const std::string indent(line_indent(text, open) + 4, ' ');
  const bool comma = !list.items.empty() && text[end.last] != ',';
  const std::string lines = entry_lines(entries, indent, "", ",");
  // In one line what follows the last entry is the bracket, maybe behind blanks.
  if (text.substr(end.last, end.close - end.last).find('\n') == std::string_view::npos) {
    out.push_back({end.last + 1, (comma ? ",\n" : "\n") + lines + indent});
    return;
  }
  if (comma) {
    out.push_back({end.last + 1, ","});
  }
  out.push_back({line_start(text, end.close), lines});
}

void into_block(std::string_view text, const YamlNode& list, const std::vector<ListEntry>& entries,
                std::vector<Insertion>& out) {
  const std::size_t dash = offset_at(text, list.at);
  const std::size_t column = dash - line_start(text, dash);
  const std::size_t end = block_end(text, dash, column, true);
  const bool open = end > 0 && text[end - 1] != '\n';
  out.push_back(
      {end, (open ? "\n" : "") + entry_lines(entries, std::string(column, ' '), "- ", "")});
}

// "key: { more: [\n ... ] }" for a list of which nothing is there.
std::string new_list(const std::vector<std::string>& keys, const std::vector<ListEntry>& entries,
                     const std::string& indent) {
  std::string head;
  std::string tail;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    head += keys[i] + (i + 1 < keys.size() ? ": { " : ": [\n");
    tail += i + 1 < keys.size() ? " }" : "";
  }
  const std::string inner = indent + "    ";
  return head + entry_lines(entries, inner, "", ",") + inner + "]" + tail;
}

Result<void> into_map(std::string_view text, const Found& found,
                      const std::vector<ListEntry>& entries, std::vector<Insertion>& out) {
  const YamlNode& map = *found.node;
  if (map.kind != YamlNode::Kind::kMap || map.members.empty()) {
    return Error(ErrorCode::kUnsupported, "has no place for it");
  }
  const std::size_t at = offset_at(text, map.at);
  if (text[at] == '{') {
    const FlowEnd end = flow_end(text, at);
    const std::string indent(line_indent(text, at), ' ');
    out.push_back({end.last + 1, (text[end.last] == ',' ? " " : ", ") +
                                     new_list(found.missing, entries, indent)});
    return {};
  }
  const std::size_t key = offset_at(text, map.members.front().key_at);
  const std::size_t column = key - line_start(text, key);
  const std::size_t end = block_end(text, key, column, false);
  const std::string indent(column, ' ');
  const bool open = end > 0 && text[end - 1] != '\n';
  out.push_back(
      {end, (open ? "\n" : "") + indent + new_list(found.missing, entries, indent) + "\n"});
  return {};
}

Result<void> insert(std::string_view text, const YamlNode& root, const ListEntries& added,
                    std::vector<Insertion>& out) {
  const Found found = walk(root, added.list);
  if (!found.missing.empty()) {
    return into_map(text, found, added.entries, out);
  }
  if (found.node->kind != YamlNode::Kind::kSequence) {
    return Error(ErrorCode::kUnsupported, "is no list");
  }
  const std::size_t at = offset_at(text, found.node->at);
  if (text[at] == '[') {
    into_flow(text, *found.node, added.entries, out);
    return {};
  }
  if (text[at] == '-') {
    into_block(text, *found.node, added.entries, out);
    return {};
  }
  return Error(ErrorCode::kUnsupported, "is written in a way that cannot be added to");
}

}  // namespace

std::string list_name(const std::vector<std::string>& list) {
  std::string name;
  for (const std::string& key : list) {
    name += (name.empty() ? "" : ".") + key;
  }
  return name;
}

Result<std::vector<Insertion>> plan_insertions(std::string_view document,
                                               const std::vector<ListEntries>& added) {
  const ParsedYaml parsed = parse_yaml(document);
  if (!parsed.root) {
    return Error(ErrorCode::kMalformed, "the policy is no YAML");
  }
  std::vector<Insertion> insertions;
  for (const ListEntries& one : added) {
    AASM_TRY_CONTEXT(insert(document, *parsed.root, one, insertions), list_name(one.list));
  }
  std::stable_sort(insertions.begin(), insertions.end(),
                   [](const Insertion& a, const Insertion& b) { return a.offset < b.offset; });
  return insertions;
}

std::string apply_insertions(std::string_view document, const std::vector<Insertion>& insertions) {
  std::string text;
  std::size_t from = 0;
  for (const Insertion& one : insertions) {
    text += document.substr(from, one.offset - from);
    text += one.text;
    from = one.offset;
  }
  return text + std::string(document.substr(from));
}

}  // namespace aasm::planner
