#pragma once

#include <string>
#include <vector>

#include "aasm/schema/activity_vocabulary.h"

#include "file_spec.h"
#include "script_builder.h"

// Calls on aasm's own canary files that the decision channel has to report: such as no other canary
// makes, so that a report can be of nothing else.
namespace aasm::backend_native {

struct FileCanary {
  std::string id;
  schema::Domain domain = schema::Domain::kFilesystemWrite;
  std::string action;  // in words
  ScriptCall call;
};

// openat2(2), which no other canary makes.
ScriptCall open_how_call(const std::string& path, int flags, Script& script);

// Those that `spec` has decided one by one and no policy grants: the names are added to `script`.
std::vector<FileCanary> decided_file_calls(const FileSpec& spec, const std::string& directory,
                                           Script& script);

}  // namespace aasm::backend_native
