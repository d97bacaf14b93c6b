#include <algorithm>
#include <exception>
#include <map>
#include <sstream>
#include <utility>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include "aasm/planner/yaml_tree.h"
#include "aasm/schema/utf8.h"

#include "line_index.h"
#include "yaml_prescan.h"

// The one file that meets yaml-cpp and its exceptions. The event interface, not the Node
// interface: Node accepts duplicate keys and expands aliases without a bound.
namespace aasm::planner {
namespace {

// yaml-cpp takes a quote that is never closed for one that ends with the input. With this line
// added, such a scalar ends in it, and a sound document only gains a comment.
constexpr std::string_view kSentinel = "# aasm: end of policy";

// Ends the parse from inside a callback.
struct Stop {
  Problem problem;
};

// What a subtree costs when an alias copies it.
struct Cost {
  std::size_t nodes = 1;
  std::size_t text = 0;
};

Cost cost_of(const YamlNode& node) {
  Cost cost{1, node.text.size()};
  const auto add = [&cost](const YamlNode& child) {
    const Cost more = cost_of(child);
    cost.nodes += more.nodes;
    cost.text += more.text;
  };
  for (const YamlNode& item : node.items) {
    add(item);
  }
  for (const YamlMember& member : node.members) {
    cost.text += member.key.size();
    add(member.value);
  }
  return cost;
}

class TreeBuilder final : public YAML::EventHandler {
 public:
  explicit TreeBuilder(LineIndex& lines) : lines_(lines) {}

  std::optional<YamlNode> take_root() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (root_ || started_) {
      stop(mark, "a second document; a policy is one document");
    }
    started_ = true;
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse_key_unless_text(mark);
    YamlNode node;
    node.at = position(mark);
    count(mark, 0);
    finish(std::move(node), anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse_key_unless_text(mark);
    if (++aliases_ > kYamlMaxAliases) {
      stop(mark, "more than " + std::to_string(kYamlMaxAliases) + " uses of aliases");
    }
    const auto named = anchors_.find(anchor);
    if (named == anchors_.end()) {
      stop(mark, "an alias inside the very value it names");
    }
    const Cost cost = cost_of(named->second);
    check_depth(mark, named->second);
    nodes_ += cost.nodes - 1;
    count(mark, cost.text);
    finish(named->second, YAML::NullAnchor);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    const bool quoted = tag == "!";
    refuse_tag(mark, quoted ? "?" : tag);
    if (quoted && value.find(kSentinel) != std::string::npos) {
      stop(mark, "a quote that is opened here and never closed");
    }
    count(mark, value.size());
    if (expects_key()) {
      return take_key(mark, value);
    }
    YamlNode node;
    node.kind = YamlNode::Kind::kScalar;
    node.at = position(mark);
    node.text = value;
    node.quoted = quoted;
    node.folded = !quoted && lines_.from(mark.line, mark.column).substr(0, value.size()) != value;
    finish(std::move(node), anchor);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    open(mark, tag, anchor, YamlNode::Kind::kSequence);
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    open(mark, tag, anchor, YamlNode::Kind::kMap);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Frame {
    YamlNode node;
    YAML::anchor_t anchor = YAML::NullAnchor;
    bool has_key = false;
    std::string key;
    Position key_at;
    std::map<std::string, std::int64_t> key_lines;
  };

  Position position(const YAML::Mark& mark) const {
    return lines_.position(mark.line, mark.column);
  }

  [[noreturn]] void stop(const YAML::Mark& mark, std::string text) const {
    throw Stop{{position(mark), std::move(text)}};
  }

  bool expects_key() const {
    return !stack_.empty() && stack_.back().node.kind == YamlNode::Kind::kMap &&
           !stack_.back().has_key;
  }

  void refuse_key_unless_text(const YAML::Mark& mark) const {
    if (expects_key()) {
      stop(mark, "a key that is not plain text");
    }
  }

  void refuse_tag(const YAML::Mark& mark, const std::string& tag) const {
    if (!tag.empty() && tag != "?") {
      stop(mark, "a tag (" + schema::escape_for_display(tag.substr(0, 60)) +
                     "); a policy needs none, remove it");
    }
  }

  void count(const YAML::Mark& mark, std::size_t text) {
    text_ += text;
    if (++nodes_ > kYamlMaxNodes) {
      stop(mark, "more than " + std::to_string(kYamlMaxNodes) + " values, counting aliases");
    }
    if (text_ > kYamlMaxText) {
      stop(mark, "more than " + std::to_string(kYamlMaxText) + " bytes, counting aliases");
    }
  }

  // Levels below `node`, which an alias would put under the current one.
  void check_depth(const YAML::Mark& mark, const YamlNode& node, std::size_t below = 0) const {
    if (node.kind != YamlNode::Kind::kSequence && node.kind != YamlNode::Kind::kMap) {
      return;
    }
    if (stack_.size() + below + 1 > kYamlMaxDepth) {
      too_deep(mark);
    }
    for (const YamlNode& item : node.items) {
      check_depth(mark, item, below + 1);
    }
    for (const YamlMember& member : node.members) {
      check_depth(mark, member.value, below + 1);
    }
  }

  [[noreturn]] void too_deep(const YAML::Mark& mark) const {
    stop(mark, "more than " + std::to_string(kYamlMaxDepth) + " levels");
  }

  void take_key(const YAML::Mark& mark, const std::string& key) {
    Frame& map = stack_.back();
    const Position at = position(mark);
    const auto [earlier, fresh] = map.key_lines.emplace(key, at.line);
    if (!fresh) {
      stop(mark, "the key `" + schema::escape_for_display(key) +
                     "` for the second time; it is stated in line " +
                     std::to_string(earlier->second));
    }
    map.has_key = true;
    map.key = key;
    map.key_at = at;
  }

  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
            YamlNode::Kind kind) {
    refuse_key_unless_text(mark);
    refuse_tag(mark, tag);
    count(mark, 0);
    if (stack_.size() + 1 > kYamlMaxDepth) {
      too_deep(mark);
    }
    Frame frame;
    frame.node.kind = kind;
    frame.node.at = position(mark);
    frame.anchor = anchor;
    stack_.push_back(std::move(frame));
  }

  void close() {
    Frame frame = std::move(stack_.back());
    stack_.pop_back();
    finish(std::move(frame.node), frame.anchor);
  }

  void finish(YamlNode node, YAML::anchor_t anchor) {
    if (anchor != YAML::NullAnchor) {
      anchors_[anchor] = node;
    }
    if (stack_.empty()) {
      root_ = std::move(node);
      return;
    }
    Frame& parent = stack_.back();
    if (parent.node.kind == YamlNode::Kind::kSequence) {
      parent.node.items.push_back(std::move(node));
      return;
    }
    if (node.kind == YamlNode::Kind::kNull) {
      node.at = parent.key_at;  // the parser reports the place after it
    }
    parent.has_key = false;
    parent.node.members.push_back({std::move(parent.key), parent.key_at, std::move(node)});
    parent.key.clear();
  }

  LineIndex& lines_;
  bool started_ = false;
  std::optional<YamlNode> root_;
  std::vector<Frame> stack_;
  std::map<YAML::anchor_t, YamlNode> anchors_;
  std::size_t aliases_ = 0;
  std::size_t nodes_ = 0;
  std::size_t text_ = 0;
};

std::string prepared_text(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size() + kSentinel.size() + 2);
  // The prescan has left carriage returns only before line feeds.
  std::copy_if(bytes.begin(), bytes.end(), std::back_inserter(text),
               [](char byte) { return byte != '\r'; });
  text.append(text.empty() || text.back() == '\n' ? "" : "\n").append(kSentinel).append("\n");
  return text;
}

ParsedYaml refused(Problem problem) {
  return {std::nullopt, std::move(problem)};
}

}  // namespace

ParsedYaml parse_yaml(std::string_view bytes) {
  if (std::optional<Problem> problem = prescan_yaml(bytes)) {
    return refused(std::move(*problem));
  }
  try {
    const std::string text = prepared_text(bytes);
    LineIndex lines(text);
    TreeBuilder builder(lines);
    std::istringstream stream(text);
    try {
      YAML::Parser parser(stream);
      while (parser.HandleNextDocument(builder)) {
      }
    } catch (const YAML::Exception& error) {
      return refused({lines.position(error.mark.line, error.mark.column),
                      "this is not YAML: " + schema::escape_for_display(error.msg)});
    }
    std::optional<YamlNode> root = builder.take_root();
    if (!root) {
      return refused({{}, "the document is empty"});
    }
    return {std::move(root), std::nullopt};
  } catch (const Stop& stopped) {
    return refused({stopped.problem.at, "the document holds " + stopped.problem.text});
  } catch (const std::exception& error) {
    return refused(
        {{}, "the document cannot be read: " + schema::escape_for_display(error.what())});
  }
}

}  // namespace aasm::planner
