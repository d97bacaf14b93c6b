#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "aasm/process/fd.h"
#include "aasm/schema/record_boundary.h"
#include "aasm/schema/record_policy.h"
#include "aasm/schema/result.h"

// From the filesystem requirements of a policy to a Landlock ruleset. Landlock grants; it cannot
// take a path out of a grant, which is what file_judge.h does.
namespace aasm::backend_native {

// What a rule's `operation` word grants, before a kernel and a file type narrow it.
enum class Operation : std::uint8_t { kRead, kWrite, kExecute };

// The Landlock rights of an operation. Writing includes making, removing, renaming and truncating,
// and ioctl(2) on devices, which can change state.
std::uint64_t rights_of(Operation operation);

enum class FileKind : std::uint8_t { kDirectory, kDevice, kOther };

// What of `wanted` a rule on a file of this kind can hold on a kernel of this ABI. A device that
// may be read may be controlled by ioctl too: terminals are unusable otherwise.
std::uint64_t installable_rights(std::uint64_t wanted, FileKind kind, std::int64_t abi);

// False: execution follows reading.
bool states_execution(const schema::Requirement& requirement);

// One path of one allow rule.
struct GrantRequest {
  std::string rule;
  schema::Domain domain = schema::Domain::kFilesystemRead;
  std::string path;  // absolute
  std::uint64_t wanted = 0;
};

// The allow rules of both filesystem domains, in the order of the policy. A deny of the whole of an
// operation takes its allow rules away. Execution follows reading (docs/spec/policy.md) unless an
// execute rule allows something, or one denies the whole: that is the empty list.
std::vector<GrantRequest> grant_requests(const std::vector<schema::Requirement>& requirements);

// A ruleset ready for landlock_restrict_self(2), and what stands in it.
struct Ruleset {
  process::Fd fd;  // close-on-exec
  std::int64_t abi = 0;
  std::uint64_t handled_fs = 0;
  std::uint64_t scoped = 0;
  std::vector<schema::PathGrant> read_grants;  // rules of filesystem_read, execution among them
  std::vector<schema::PathGrant> write_grants;
  std::optional<schema::PathGrant> everything;  // installed besides: grant_everything()
};

// Opens each distinct path once, following symlinks, and grants what was opened. A path to read or
// execute that cannot be opened is listed as skipped and grants nothing; one to write is an error,
// since a program that silently cannot write its output is broken. Every right the kernel's ABI
// knows is handled, and the signal scope where the ABI has it (self-protection).
// `scopes`: of those that requirements ask for; the signal scope is always there.
schema::Result<Ruleset> build_ruleset(const std::vector<schema::Requirement>& requirements,
                                      std::int64_t abi, std::uint64_t scopes = UINT64_MAX);

// Takes the ground from under the ruleset: every right on every path, where files are observed and
// the channel alone keeps some of them (file_observe.h).
schema::Result<void> grant_everything(Ruleset& ruleset);

// The ABI of the running kernel; kUnsupported when Landlock is not there.
schema::Result<std::int64_t> landlock_abi();

// A mask as records print it: "0x1fff".
std::string hex_mask(std::uint64_t mask);

}  // namespace aasm::backend_native
