#include <system_error>

#include <optional>
#include <utility>

#include "aasm/schema/utf8.h"

#include "lowering.h"

namespace aasm::planner {
namespace {

using schema::Domain;
using schema::Requirement;
using schema::RuleEffect;
using schema::SelectorType;

std::string shown(const std::string& path) {
  return "`" + schema::escape_for_display(path) + "`";
}

// Drops what another entry covers; of two equal paths the first stays.
template <class Grant>
std::vector<Grant> collapsed(std::vector<Grant> grants) {
  PathIndex index;
  for (std::size_t i = 0; i < grants.size(); ++i) {
    index.add(grants[i].path, i);
  }
  std::vector<Grant> kept;
  for (std::size_t i = 0; i < grants.size(); ++i) {
    if (index.widest(grants[i].path) == i) {
      kept.push_back(grants[i]);
    }
  }
  return kept;
}

}  // namespace

std::vector<Lowering::Grant> Lowering::resolved(const TextList& list, const std::string& node,
                                                Domain domain, bool has_to_exist) {
  std::vector<Grant> grants;
  for (const TextEntry& entry : list.entries) {
    if (!resolve_) {
      grants.push_back({entry.text, entry.index, entry.at});
      continue;
    }
    const schema::Result<WalkedPath> walked = resolve_(entry.text);
    if (!walked) {
      out_.problems.push_back(
          {entry.at, indexed(node, entry.index) + ": " + walked.error().message()});
      continue;
    }
    if (!walked->exists) {
      note_missing(*walked, entry, node, domain, has_to_exist);
    }
    grants.push_back({walked->resolved, entry.index, entry.at});
  }
  return collapsed(std::move(grants));
}

void Lowering::note_missing(const WalkedPath& walked, const TextEntry& entry,
                            const std::string& node, Domain domain, bool has_to_exist) {
  const std::string why =
      walked.os_errno == ENOENT
          ? "does not exist"
          : "cannot be reached: " + std::generic_category().message(walked.os_errno);
  const std::string what = shown(entry.text) + " " + why;
  if (has_to_exist) {
    out_.problems.push_back({entry.at, indexed(node, entry.index) + ": " + what +
                                           "; a path to write has to be there before the start, "
                                           "so create it or grant the directory it goes into"});
    return;
  }
  gap(domain, indexed(node, entry.index), what + "; nothing is granted by this entry");
}

void Lowering::add_grants(Requirement& requirement, std::vector<Grant> grants,
                          const std::string& node, const std::string& operation) {
  for (Grant& grant : grants) {
    if (const PathDenial* by = denials_.covering(operation, grant.path)) {
      gap(requirement.domain, indexed(node, grant.index),
          "outranked by " + by->id + "; nothing is granted");
      continue;
    }
    requirement.rules.push_back(make_rule(indexed(node, grant.index), operation,
                                          SelectorType::kPathPrefix, std::move(grant.path),
                                          grant.at));
  }
}

void Lowering::find_denials() {
  if (!document_.filesystem) {
    return;
  }
  const NoteDenial note = [this](const std::string& node, Position at, bool problem,
                                 std::string text) {
    if (problem) {
      out_.problems.push_back({at, node + ": " + std::move(text)});
    } else {
      gap(std::nullopt, node, std::move(text));
    }
  };
  for (PathDenial& denial : denials_of(*document_.filesystem, resolve_, note)) {
    denials_.add(std::move(denial));
  }
}

void Lowering::add_execution(Requirement& requirement) {
  const std::optional<TextList>& execute = document_.filesystem->execute;
  if (!execute) {
    gap(Domain::kFilesystemRead, "filesystem.execute",
        "not stated: execution follows filesystem.read");
    return;
  }
  const std::string node = "filesystem.execute.allow";
  const std::size_t before = requirement.rules.size();
  add_grants(requirement, resolved(*execute, node, Domain::kFilesystemRead, false), node,
             "execute");
  if (requirement.rules.size() == before) {
    // Without a rule of its own this would read as "not stated".
    requirement.rules.push_back(
        make_rule(node, "execute", SelectorType::kWhole, "", execute->at, RuleEffect::kDeny));
    return;
  }
  denials_.add_rules(requirement, "execute", before);
}

void Lowering::filesystem_read() {
  const std::optional<FilesystemNode>& node = document_.filesystem;
  find_denials();
  const bool stated = node && node->read;
  if (const auto by = restricted("file_read")) {
    begin(Domain::kFilesystemRead, by->first, by->first, by->second);
    if (stated) {
      gap(Domain::kFilesystemRead, "filesystem.read",
          "outranked by " + by->first + ": nothing may be read or executed");
    }
  } else if (stated) {
    const std::string name = "filesystem.read.allow";
    Requirement& requirement = begin(Domain::kFilesystemRead, name, name, node->read->at);
    add_grants(requirement, resolved(*node->read, name, Domain::kFilesystemRead, false), name,
               "read");
    denials_.add_rules(requirement, "read", 0);
    add_execution(requirement);
  }
}

void Lowering::filesystem_write() {
  const std::optional<FilesystemNode>& node = document_.filesystem;
  auto by = restricted("file_write");
  if (!by) {
    by = restricted("file_delete");  // creating, writing and removing are one domain
  }
  const bool stated = node && node->write;
  if (by) {
    begin(Domain::kFilesystemWrite, by->first, by->first, by->second);
    if (stated) {
      gap(Domain::kFilesystemWrite, "filesystem.write",
          "outranked by " + by->first +
              ": writing and removing files are one domain, nothing may be written");
    }
  } else if (stated) {
    const std::string name = "filesystem.write.allow";
    Requirement& requirement = begin(Domain::kFilesystemWrite, name, name, node->write->at);
    add_grants(requirement, resolved(*node->write, name, Domain::kFilesystemWrite, true), name,
               "write");
    denials_.add_rules(requirement, "write", 0);
  }
}

void Lowering::note_unused_denials() {
  for (const PathDenial* denial : denials_.unused()) {
    gap(std::nullopt, denial->id,
        shown(denial->path) +
            " lies in no grant by its path, so the default denies it already; another mount of it "
            "inside a grant is not looked for");
  }
}

}  // namespace aasm::planner
