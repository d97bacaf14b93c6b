#include <iostream>
#include <string>
#include <utility>

#include "aasm/backends/syscall_vocabulary.h"
#include "aasm/planner/policy_decode.h"
#include "aasm/planner/yaml_tree.h"
#include "aasm/schema/json_parse.h"
#include "aasm/schema/json_write.h"

// For each line of standard input, the text of a policy as a JSON string, one JSON object: what the
// loader refuses it for, and the document as it was parsed, with every scalar as it is spelled.
namespace {

namespace planner = aasm::planner;
using aasm::schema::JsonValue;

JsonValue tree(const planner::YamlNode& node) {
  switch (node.kind) {
    case planner::YamlNode::Kind::kNull:
      return {};
    case planner::YamlNode::Kind::kScalar:
      return JsonValue::Object{{node.quoted ? "quoted" : "plain", node.text}};
    case planner::YamlNode::Kind::kSequence: {
      JsonValue::Array items;
      for (const planner::YamlNode& item : node.items) {
        items.push_back(tree(item));
      }
      return items;
    }
    case planner::YamlNode::Kind::kMap: {
      JsonValue::Array members;  // a list: keys of a policy need not be keys of a record
      for (const planner::YamlMember& member : node.members) {
        members.emplace_back(JsonValue::Array{member.key, tree(member.value)});
      }
      return JsonValue::Object{{"map", std::move(members)}};
    }
  }
  return {};
}

JsonValue answer(const std::string& text) {
  const auto vocabulary = aasm::backend_native::make_syscall_vocabulary();
  JsonValue::Array problems;
  for (const planner::Problem& one :
       planner::decode_policy(text, {{"/work/dir", "/home/u"}, vocabulary.get()}).problems) {
    problems.emplace_back(std::to_string(one.at.line) + ":" + std::to_string(one.at.column) + " " +
                          one.text);
  }
  const planner::ParsedYaml parsed = planner::parse_yaml(text);
  return JsonValue::Object{{"problems", std::move(problems)},
                           {"parsed", parsed.root.has_value()},
                           {"tree", parsed.root ? tree(*parsed.root) : JsonValue()}};
}

}  // namespace

int main() {
  std::string line;
  while (std::getline(std::cin, line)) {
    const auto json = aasm::schema::json_parse(line);
    if (!json || json->as_string() == nullptr) {
      std::cerr << "not a JSON string: " << line << '\n';
      return 1;
    }
    std::cout << aasm::schema::json_write(answer(*json->as_string())) << '\n' << std::flush;
  }
  return 0;
}
