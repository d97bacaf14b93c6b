#pragma once

#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aasm/planner/policy_document.h"
#include "aasm/planner/yaml_tree.h"
#include "aasm/schema/result.h"

namespace aasm::planner {

// What to do with one key of a map.
struct KeyReader {
  std::string key;
  std::function<void(const YamlMember&)> read;
};

// Turns one entry of a list into its checked form, or says what is wrong with it.
using EntryCheck = std::function<schema::Result<std::string>(const std::string&)>;

// Reads typed values out of a tree and collects what is wrong, so that one pass reports every
// fault. `where` is the dotted path of a node, for messages: "filesystem.read".
class Decoder {
 public:
  std::vector<Problem> take_problems();

  void report(Position at, std::string text);

  // Calls the reader of each key; a key without a reader is a problem that names the nearest.
  void read_map(const YamlNode& node, const std::string& where,
                const std::vector<KeyReader>& readers);

  // A list of text. Entries that fail their check are reported and left out; an entry that repeats
  // an earlier one is left out silently. nullopt when the node is no list.
  std::optional<TextList> text_list(const YamlNode& node, const std::string& where,
                                    const EntryCheck& check);

  // A map whose one key is `allow`: the list behind it.
  std::optional<TextList> allow_list(const YamlNode& node, const std::string& where,
                                     const EntryCheck& check);

  // A map of the keys `allow` and `deny`.
  void allow_and_deny(const YamlNode& node, const std::string& where, const EntryCheck& check,
                      std::optional<TextList>& allowed, std::optional<TextList>& denied);

  // Unquoted decimal digits between the bounds.
  std::optional<std::int64_t> number(const YamlNode& node, const std::string& where,
                                     std::int64_t least, std::int64_t most);

  // Text, quoted or not, on one line. A plain number or boolean is none: other readers of YAML, a
  // schema in an editor among them, do not see text there.
  std::optional<std::string> text(const YamlNode& node, const std::string& where);

  // One of a closed list of words.
  std::optional<std::string> word(const YamlNode& node, const std::string& where,
                                  const std::vector<std::string>& known);

  // One of the tokens of a vocabulary.
  template <schema::NamedEnum E>
  std::optional<E> token(const YamlNode& node, const std::string& where) {
    std::vector<std::string> words;
    words.reserve(std::size(schema::EnumNames<E>::kTokens));
    for (const auto& entry : schema::EnumNames<E>::kTokens) {
      words.emplace_back(entry.second);
    }
    const std::optional<std::string> text = word(node, where, words);
    const schema::Result<E> value = schema::parse_token<E>(text.value_or(""));
    return text && value ? std::optional<E>(*value) : std::nullopt;
  }

  // False, and reported, when `node` is no list.
  bool is_list(const YamlNode& node, const std::string& where);

 private:
  using NamedLists = std::vector<std::pair<const char*, std::optional<TextList>*>>;

  void read_lists(const YamlNode& node, const std::string& where, const EntryCheck& check,
                  const NamedLists& lists);
  void wrong_kind(const YamlNode& node, const std::string& where, const char* wanted);

  std::vector<Problem> problems_;
};

// "a list", "a map", "text" or "nothing": what stands in the document.
std::string_view kind_name(const YamlNode& node);

}  // namespace aasm::planner
