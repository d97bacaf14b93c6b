#pragma once

#include <string>
#include <vector>

#include "aasm/planner/policy_resolve.h"

namespace aasm::planner {

// A document with those it names in metadata.extends, and those they name.
struct LoadedDocuments {
  std::vector<LoadedDocument> documents;  // the first is the policy's own
  std::vector<SourceProblem> problems;    // with any, the policy has not loaded
};

// `digest` is that of `bytes`.
LoadedDocuments load_documents(const PolicyRequest& request, const std::string& path,
                               std::string bytes, const schema::Sha256& digest);

// `path` as it is, or from `directory` on.
std::string joined(const std::string& path, const std::string& directory);

}  // namespace aasm::planner
