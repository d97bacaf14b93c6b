#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aasm/planner/paths.h"
#include "aasm/planner/policy_document.h"
#include "aasm/planner/syscall_vocabulary.h"
#include "aasm/planner/yaml_tree.h"

namespace aasm::planner {

// What a document is read with. Without a vocabulary only the shape of system call names is
// checked. The vocabulary is borrowed for the call.
struct DecodeContext {
  PathContext paths;
  const SyscallVocabulary* vocabulary = nullptr;
};

// `document` is set exactly when `problems` is empty.
struct DecodedPolicy {
  std::optional<PolicyDocument> document;
  std::vector<Problem> problems;  // in the order of the document
};

// Reads a policy document, as an envelope or flat. Every fault is reported, not only the first:
// unknown keys with the nearest known one, values of the wrong type, lists without a value, names
// that do not exist. Pure.
DecodedPolicy decode_policy(std::string_view bytes, const DecodeContext& context);

// Lists that only take away (filesystem.deny, syscalls.deny) where the document grants nothing they
// could take from. A fault of a policy that is one document, and of one that is several when it
// holds for all of them.
std::vector<Problem> missing_halves(const PolicyDocument& document);

// A problem of one of several files. Without a place it is about the whole of it.
struct SourceProblem {
  std::string source;
  std::optional<Position> at;
  std::string text;
};
std::vector<SourceProblem> problems_in(const std::string& source, std::vector<Problem> problems);

// The first problems as lines "SOURCE:LINE:COLUMN: sentence", and how many more there are. Names of
// sources are escaped.
std::string render_problems(const std::vector<SourceProblem>& problems);

}  // namespace aasm::planner
