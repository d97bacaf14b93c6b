#pragma once

#include <cstdint>
#include <string>

#include "aasm/schema/vocabulary.h"

namespace aasm::planner {

// What a workload could do, as a backend is asked about it.
struct Action {
  schema::Domain domain = schema::Domain::kFilesystemRead;
  // filesystem_read: read (a directory: list), execute; filesystem_write: write (and truncate),
  // create, remove (of the name: renaming is both); network_egress: connect; name_resolution:
  // resolve; syscall: call; ipc: connect; resource: exceed.
  std::string operation;
  std::string object;  // a path free of links, HOST:PORT, HOST:PORT/udp, or a name
};

enum class ActionAnswer : std::uint8_t {
  kAllowed,
  kDenied,
  kByArguments,  // some of such calls are refused
  kNotMediated,  // this backend installs nothing that sees it
};

// What the boundary of a backend makes of an action.
struct ActionView {
  ActionAnswer answer = ActionAnswer::kNotMediated;
  std::string mechanism;  // "landlock"; empty when not mediated
  std::string rule;       // the rule that answers, of the policy or "self_protection.NAME"
  int os_errno = 0;       // what a denied caller receives; 0 when it is killed
  bool recorded = false;  // each such action, also an allowed one, becomes an event
  std::string note;       // a sentence, or nothing
};

}  // namespace aasm::planner
