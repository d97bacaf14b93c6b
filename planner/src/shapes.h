#pragma once

#include <string>
#include <string_view>

#include "aasm/planner/syscall_vocabulary.h"
#include "aasm/schema/result.h"

// What single values of a policy may look like. Each returns the value in its one form, or
// kMalformed with a sentence that shows it.
namespace aasm::planner {

// host[:port]: an exact name, *.suffix, or *; an address; the port 443 unless given. Lower case.
schema::Result<std::string> host_pattern(const std::string& text);

// As host_pattern(), without a port.
schema::Result<std::string> host_name_pattern(const std::string& text);

// A name, an address or a range in CIDR form: only the letters are checked.
schema::Result<std::string> host_or_range(const std::string& text);

// address:port, for bind.
schema::Result<std::string> address_and_port(const std::string& text);

// The name of an environment variable; no patterns, and no credential of the supervisor.
schema::Result<std::string> environment_name(const std::string& text);

// A system call, or a group with its @; known to `vocabulary` when there is one.
schema::Result<std::string> syscall_name(const std::string& text,
                                         const SyscallVocabulary* vocabulary);

// One of the capability words of the reference (file_read, ..., mcp_tool:NAME, model:NAME).
schema::Result<std::string> capability_name(const std::string& text);

}  // namespace aasm::planner
