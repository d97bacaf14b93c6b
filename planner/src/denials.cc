#include "denials.h"

#include <system_error>

#include <cerrno>
#include <optional>
#include <set>
#include <utility>

#include "aasm/schema/utf8.h"

#include "lowering.h"

namespace aasm::planner {
namespace {

using schema::PolicyRule;
using schema::RuleEffect;
using schema::SelectorType;

std::string missing_text(const std::string& written, int os_errno) {
  const std::string what = "`" + schema::escape_for_display(written) + "` ";
  return os_errno == ENOENT
             ? what + "does not exist; its name is denied, whoever makes it"
             : what + "cannot be reached (" + std::generic_category().message(os_errno) +
                   "); its name is denied";
}

class DenialReader {
 public:
  DenialReader(const PathResolver& resolve, const NoteDenial& note)
      : resolve_(resolve), note_(note) {}

  void add(const std::optional<TextList>& list, const std::string& node, const PathDenial& kind) {
    for (const TextEntry& entry : list ? list->entries : std::vector<TextEntry>()) {
      PathDenial denial = kind;
      denial.id = indexed(node, entry.index);
      denial.path = entry.text;
      denial.at = entry.at;
      if (resolve_) {
        resolve(std::move(denial), entry);
      } else {
        found_.push_back(std::move(denial));
      }
    }
  }

  std::vector<PathDenial> take() { return std::move(found_); }

 private:
  void resolve(PathDenial denial, const TextEntry& entry) {
    const schema::Result<WalkedPath> walked = resolve_(entry.text);
    if (!walked) {
      return note_(denial.id, entry.at, true, walked.error().message());
    }
    if (!walked->exists) {
      note_(denial.id, entry.at, false, missing_text(entry.text, walked->os_errno));
    }
    PathDenial link{denial.id + ".link", "", entry.at, false, true, false, true};
    denial.path = walked->resolved;
    found_.push_back(std::move(denial));
    for (const auto& [place, target] : walked->links) {
      link.path = place;
      found_.push_back(link);
    }
  }

  const PathResolver& resolve_;
  const NoteDenial& note_;
  std::vector<PathDenial> found_;
};

}  // namespace

std::vector<PathDenial> denials_of(const FilesystemNode& node, const PathResolver& resolve,
                                   const NoteDenial& note) {
  DenialReader reader(resolve, note);
  reader.add(node.deny, "filesystem.deny", {"", "", {}, true, true, true, false});
  reader.add(node.read_deny, "filesystem.read.deny", {"", "", {}, true, false, false, false});
  reader.add(node.write_deny, "filesystem.write.deny", {"", "", {}, false, true, false, false});
  return reader.take();
}

void PathDenials::add(PathDenial denial) {
  const std::size_t number = denials_.size();
  for (PathIndex* index :
       {denial.reading ? &reading_ : nullptr, denial.writing ? &writing_ : nullptr,
        denial.executing ? &executing_ : nullptr}) {
    if (index != nullptr) {
      index->add(denial.path, number);
    }
  }
  used_.push_back(denial.is_link);
  denials_.push_back(std::move(denial));
}

const PathIndex& PathDenials::index_for(std::string_view operation) const {
  return operation == "read" ? reading_ : operation == "write" ? writing_ : executing_;
}

const PathDenial* PathDenials::covering(std::string_view operation, std::string_view path) {
  const std::optional<std::size_t> by = index_for(operation).widest(path);
  if (!by || denials_[*by].is_link) {
    return nullptr;
  }
  used_[*by] = true;
  return &denials_[*by];
}

void PathDenials::add_rules(schema::Requirement& requirement, const std::string& operation,
                            std::size_t from) {
  PathIndex grants;
  std::set<std::string> taken;
  for (std::size_t i = 0; i < requirement.rules.size(); ++i) {
    const PolicyRule& rule = requirement.rules[i];
    taken.insert(rule.id);
    if (i >= from && rule.effect == RuleEffect::kAllow && rule.operation == operation) {
      grants.add(rule.selector.value.bytes(), 0);
    }
  }
  for (std::size_t i = 0; i < denials_.size(); ++i) {
    const PathDenial& denial = denials_[i];
    if (!denial.speaks_of(operation) || !grants.widest(denial.path)) {
      continue;
    }
    used_[i] = true;
    if (index_for(operation).widest(denial.path) != i) {
      continue;
    }
    const std::string id = denial.id + (taken.count(denial.id) != 0 ? "." + operation : "");
    requirement.rules.push_back(make_rule(id, operation, SelectorType::kPathPrefix, denial.path,
                                          denial.at, RuleEffect::kDeny));
  }
}

std::vector<const PathDenial*> PathDenials::unused() const {
  std::vector<const PathDenial*> unused;
  for (std::size_t i = 0; i < denials_.size(); ++i) {
    if (!used_[i]) {
      unused.push_back(&denials_[i]);
    }
  }
  return unused;
}

}  // namespace aasm::planner
