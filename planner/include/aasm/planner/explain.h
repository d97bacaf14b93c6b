#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "aasm/planner/action.h"
#include "aasm/planner/backend.h"
#include "aasm/planner/cascade.h"
#include "aasm/planner/execution_spec.h"
#include "aasm/planner/lower.h"
#include "aasm/planner/syscall_vocabulary.h"
#include "aasm/schema/record_policy.h"
#include "aasm/schema/result.h"

// What would happen to one action, and which line of the policy says so.
namespace aasm::planner {

enum class PolicyWord : std::uint8_t { kAllowed, kDenied, kNotStated };

// What a workload under the policy would meet, host permissions aside.
enum class ActionVerdict : std::uint8_t {
  kAllowed,
  kDenied,
  kByArguments,  // a call: some are refused, by what their arguments say
  kNotStated,    // policy does not state the domain and nothing else closes it
  kNotEnforced,  // policy denies it and nothing that is built here carries that out
};
const char* verdict_token(ActionVerdict verdict);

// What one document of several says of an action.
struct DocumentSaying {
  std::string source;
  PolicyWord word = PolicyWord::kNotStated;
  std::string rule;
  std::optional<std::int64_t> line;
};

struct Explanation {
  Action action;  // its object as it is judged
  ActionVerdict verdict = ActionVerdict::kNotStated;
  PolicyWord policy = PolicyWord::kNotStated;
  std::string rule;                  // the statement of the policy that decides; may be empty
  std::optional<std::int64_t> line;  // where it stands in the document
  // Where the documents of a policy disagree and the action is denied: the word of each that states
  // the domain.
  std::vector<DocumentSaying> documents = {};
  ActionView view;
  std::string record;  // a sentence: what would stand in the ledger
  int host_errno = 0;  // a path: what the host itself answers, whatever the policy says
  // Of executing a file: what the kernel opens besides it, in its order, each judged by itself. The
  // verdict above is over all of them.
  std::vector<Explanation> needs = {};
  std::string needed_as = {};  // of one of `needs`: interpreter, loader
};

struct ExplainedObject {
  std::string asked;
  std::string kind;                                        // path, host, datagram, syscall, limit
  std::string resolved;                                    // a path: free of links, `..` and `.`
  std::vector<std::pair<std::string, std::string>> links;  // followed, in order: place and target
  std::vector<Explanation> answers;
  std::vector<std::string> notes;
};

// What the kernel opens next to execute a file.
struct NeededFile {
  enum class Kind : std::uint8_t {
    kNone,
    kInterpreter,  // of "#!"
    kLoader,       // of an ELF file; nothing comes behind it
    kRefused,      // the kernel does not execute such a file
  };
  Kind kind = Kind::kNone;
  std::string path = {};  // of the two in the middle; may be relative, to the caller's directory
};

// How the host is looked at; everything that explaining asks of it.
struct HostView {
  PathResolver resolve;                                      // walk_path()
  std::function<int(const std::string& path)> look;          // lstat(2): 0 or errno
  std::function<int(const std::string& path, int)> permits;  // faccessat(2), effective ids
  // Of a file; an Error when it cannot be read. Empty: it is not asked.
  std::function<schema::Result<NeededFile>(const std::string& path)> needs = {};
};
HostView this_host();  // without `needs`

// All of it borrowed for the call.
struct ExplainInput {
  const std::vector<schema::Requirement>& requirements;
  const std::vector<DomainPlace>& places;
  const ExecutionSpec& spec;
  const Backend* backend;  // whose boundary it would be; null: none
  const SyscallVocabulary& vocabulary;
  const HostView& host;
  std::string working_dir;  // absolute; what a path that is not starts from
  const std::vector<DocumentStatements>& documents;  // of a policy that is several
};

// Explains `what`: a datagram is HOST:PORT/udp, any other with a slash a path, a limit one that
// `resources` knows, a call a name the vocabulary knows, anything else is HOST[:PORT]. `operation`
// is one of those of Action, or empty for all that the object has. kInvalidArgument with a sentence
// for what cannot be asked; whatever resolving a path says.
schema::Result<ExplainedObject> explain(const ExplainInput& input, const std::string& what,
                                        const std::string& operation);

}  // namespace aasm::planner
