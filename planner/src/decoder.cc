#include "decoder.h"

#include <algorithm>
#include <charconv>
#include <unordered_set>
#include <utility>

#include "aasm/planner/suggest.h"
#include "aasm/schema/utf8.h"

#include "plain_scalar.h"

namespace aasm::planner {
namespace {

std::string quoted(std::string_view text) {
  constexpr std::size_t kShown = 80;
  std::string shown = schema::escape_for_display(text.substr(0, kShown));
  return "`" + shown + (text.size() > kShown ? "...`" : "`");
}

std::vector<std::string> keys_of(const std::vector<KeyReader>& readers) {
  std::vector<std::string> keys;
  keys.reserve(readers.size());
  for (const KeyReader& reader : readers) {
    keys.push_back(reader.key);
  }
  return keys;
}

}  // namespace

std::string_view kind_name(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::kNull:
      return "nothing";
    case YamlNode::Kind::kScalar:
      return "text";
    case YamlNode::Kind::kSequence:
      return "a list";
    case YamlNode::Kind::kMap:
      return "a map";
  }
  return "";
}

std::vector<Problem> Decoder::take_problems() {
  std::stable_sort(problems_.begin(), problems_.end(),
                   [](const Problem& a, const Problem& b) { return a.at < b.at; });
  return std::move(problems_);
}

void Decoder::report(Position at, std::string text) {
  problems_.push_back({at, std::move(text)});
}

void Decoder::wrong_kind(const YamlNode& node, const std::string& where, const char* wanted) {
  std::string text = where + " has to be " + wanted + " and is " + std::string(kind_name(node));
  if (node.kind == YamlNode::Kind::kNull) {
    text += std::string_view(wanted) == "a list"
                ? "; write [] to permit nothing, or remove the key to state nothing"
                : "; remove the key to state nothing";
  }
  report(node.at, std::move(text));
}

void Decoder::read_map(const YamlNode& node, const std::string& where,
                       const std::vector<KeyReader>& readers) {
  if (node.kind != YamlNode::Kind::kMap) {
    wrong_kind(node, where, "a map");
    return;
  }
  for (const YamlMember& member : node.members) {
    const auto reader = std::find_if(readers.begin(), readers.end(),
                                     [&](const KeyReader& one) { return one.key == member.key; });
    if (reader == readers.end()) {
      report(member.key_at, "unknown key " + quoted(member.key) + " in " + where +
                                suggestion_text(member.key, keys_of(readers)));
      continue;
    }
    reader->read(member);
  }
}

bool Decoder::is_list(const YamlNode& node, const std::string& where) {
  if (node.kind == YamlNode::Kind::kSequence) {
    return true;
  }
  wrong_kind(node, where, "a list");
  return false;
}

std::optional<TextList> Decoder::text_list(const YamlNode& node, const std::string& where,
                                           const EntryCheck& check) {
  if (!is_list(node, where)) {
    return std::nullopt;
  }
  TextList list;
  list.at = node.at;
  std::unordered_set<std::string> known;
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    const std::string entry = where + "[" + std::to_string(i) + "]";
    const std::optional<std::string> raw = text(node.items[i], entry);
    if (!raw) {
      continue;
    }
    schema::Result<std::string> checked = check(*raw);
    if (!checked) {
      report(node.items[i].at, entry + ": " + checked.error().message());
      continue;
    }
    if (known.insert(*checked).second) {
      list.entries.push_back({std::move(*checked), i, node.items[i].at});
    }
  }
  return list;
}

std::optional<TextList> Decoder::allow_list(const YamlNode& node, const std::string& where,
                                            const EntryCheck& check) {
  std::optional<TextList> allowed;
  read_lists(node, where, check, {{"allow", &allowed}});
  return allowed;
}

void Decoder::allow_and_deny(const YamlNode& node, const std::string& where,
                             const EntryCheck& check, std::optional<TextList>& allowed,
                             std::optional<TextList>& denied) {
  read_lists(node, where, check, {{"allow", &allowed}, {"deny", &denied}});
}

void Decoder::read_lists(const YamlNode& node, const std::string& where, const EntryCheck& check,
                         const NamedLists& lists) {
  if (node.kind == YamlNode::Kind::kSequence) {
    report(node.at,
           where + " has to be a map with the key `allow`; write `allow:` before the list");
    return;
  }
  std::vector<KeyReader> readers;
  for (const auto& [key, list] : lists) {
    const std::string name = where + "." + key;
    readers.push_back({key, [this, &check, into = list, name](const YamlMember& member) {
                         *into = text_list(member.value, name, check);
                       }});
  }
  read_map(node, where, readers);
}

std::optional<std::int64_t> Decoder::number(const YamlNode& node, const std::string& where,
                                            std::int64_t least, std::int64_t most) {
  const std::string range = "a whole number from " + std::to_string(least) + " to " +
                            std::to_string(most) + ", in decimal digits without quotes";
  if (node.kind != YamlNode::Kind::kScalar) {
    wrong_kind(node, where, "a number");
    return std::nullopt;
  }
  std::int64_t value = 0;
  const char* end = node.text.data() + node.text.size();
  const auto [stop, fault] = std::from_chars(node.text.data(), end, value);
  const bool plain =
      !node.quoted && fault == std::errc() && stop == end && std::to_string(value) == node.text;
  if (!plain || value < least || value > most) {
    report(node.at, where + " is " + quoted(node.text) + " and has to be " + range);
    return std::nullopt;
  }
  return value;
}

std::optional<std::string> Decoder::text(const YamlNode& node, const std::string& where) {
  if (node.kind != YamlNode::Kind::kScalar) {
    wrong_kind(node, where, "text");
    return std::nullopt;
  }
  if (node.folded) {
    report(node.at,
           where + " goes on in a further line; put it in quotes, or check the indentation");
    return std::nullopt;
  }
  if (const char* type = node.quoted ? nullptr : type_of_plain(node.text)) {
    report(node.at, where + " has to be text and " + quoted(node.text) + " is " + type +
                        "; put it in quotes if it is meant");
    return std::nullopt;
  }
  return node.text;
}

std::optional<std::string> Decoder::word(const YamlNode& node, const std::string& where,
                                         const std::vector<std::string>& known) {
  std::optional<std::string> value = text(node, where);
  if (value && std::find(known.begin(), known.end(), *value) == known.end()) {
    report(node.at,
           where + ": " + quoted(*value) + " is not a value here" + suggestion_text(*value, known));
    return std::nullopt;
  }
  return value;
}

}  // namespace aasm::planner
