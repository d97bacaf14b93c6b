#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "aasm/planner/cascade.h"
#include "aasm/planner/environment.h"
#include "aasm/planner/lower.h"
#include "aasm/planner/paths.h"
#include "aasm/planner/policy_decode.h"
#include "aasm/planner/policy_document.h"
#include "aasm/planner/syscall_vocabulary.h"
#include "aasm/schema/digest.h"
#include "aasm/schema/record_policy.h"
#include "aasm/schema/result.h"

namespace aasm::planner {

// SHA-256. Injected: this module links no cryptography.
using HashFunction = std::function<schema::Sha256(schema::ByteView)>;

// The bytes of a file, or nullopt when there is none of that name. An Error is a file that is
// there and cannot be used: it is never passed over for a later one.
using PolicyReader = std::function<schema::Result<std::optional<std::string>>(
    const std::string& path, std::size_t max_bytes)>;

// Reads regular files only; a name that leads to anything else is an Error.
schema::Result<std::optional<std::string>> read_policy_file(const std::string& path,
                                                            std::size_t max_bytes);

// Where a policy is looked for, in this order. The first place that holds one is used; what is
// wrong with it is never repaired by a later one. A place that the operator named (`option`,
// `environment`) has to hold one.
struct PolicySources {
  std::optional<std::string> option;       // --policy
  std::optional<std::string> environment;  // $AA_POLICY; empty text counts as not set
  std::optional<std::string> home;         // $AASM_HOME/policy.yaml
  std::string system = "/etc/aasm/policy.yaml";
};

struct PolicyRequest {
  PolicySources sources;
  std::string current_dir;  // absolute; what relative names of sources start from
  PathContext paths;
  const SyscallVocabulary* vocabulary = nullptr;  // borrowed for the call; null: names by shape
  PolicyReader reader = read_policy_file;
  PathResolver resolver = PathWalker();
  HashFunction hash;  // required
};

// One file of a policy, read and decoded.
struct LoadedDocument {
  std::string path;  // absolute
  std::string bytes;
  schema::Sha256 digest;
  PolicyDocument document;
};

// The record of `policy.resolved` and what later steps need of the document beside it. The `blob`s
// of the record are left to who stores the bytes.
struct ResolvedPolicy {
  schema::PolicyResolved record;
  std::string bytes;        // the document; empty when none was read
  std::string source_path;  // absolute; empty when there is none
  CredentialGrants credentials;
  std::vector<DomainPlace> places;
  std::vector<std::string> looked_in;     // the places that held no policy, in order
  std::vector<LoadedDocument> documents;  // the policy's own first; those of record.extends after
  std::vector<SourceProblem> problems;    // what record.error is made from
  std::vector<DocumentStatements> each;   // of several: what each of them says, in their order
  PathResolver resolver;                  // that of the request, with what it has seen
};

// Finds, reads and lowers the policy of a run. Never fails: what went wrong is the state
// `load_failed` and the record's `error`, one line for each fault with its line and column.
ResolvedPolicy resolve_policy(const PolicyRequest& request);

}  // namespace aasm::planner
