#include "launch.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "aasm/crypto/hash.h"
#include "aasm/crypto/random.h"
#include "aasm/planner/planner.h"
#include "aasm/planner/refusal.h"
#include "aasm/process/exec_target.h"
#include "aasm/process/host_conditions.h"
#include "aasm/process/outer_run.h"
#include "aasm/schema/utf8.h"
#include "aasm/schema/uuid.h"

#include "backends.h"
#include "policy_in_use.h"
#include "version.h"

namespace aasm::cli {
namespace {

namespace fs = std::filesystem;
using schema::Error;
using schema::ErrorCode;
using schema::Result;

schema::Sha256 sha256(schema::ByteView bytes) {
  return crypto::sha256(bytes);
}

std::vector<std::string> own_environment() {
  std::vector<std::string> list;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    list.emplace_back(*entry);
  }
  return list;
}

struct FoundProgram {
  std::string path;  // absolute; as given when there is none
  std::vector<schema::Refusal> refusals;
};

Result<FoundProgram> find_program(const RunCommand& command) {
  const std::string& given = command.argv.front();
  const process::TargetResolution found =
      AASM_TRY(process::resolve_target(given, environment_variable("PATH")));
  if (found.target) {
    return FoundProgram{absolute_path(found.target->path), {}};
  }
  const bool missing = found.refusal->reason == schema::LaunchRefusal::kProgramNotFound;
  return FoundProgram{
      given,
      {missing ? planner::refuse_program_not_found(given)
               : planner::refuse_program_not_executable(given, found.refusal->detail)}};
}

Result<schema::Sha256> digest_of(const std::string& path, process::DigestCache& digests) {
  const process::Fd file = AASM_TRY(process::open_file(path, O_RDONLY));
  return AASM_TRY(digests.digest_of(file.borrow())).digest;
}

Result<std::string> random_id() {
  std::array<std::uint8_t, 16> bytes{};
  AASM_TRY(crypto::random_bytes(bytes));
  return schema::make_uuid4(bytes);
}

std::optional<std::string> non_empty(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional<std::string>(text);
}

// What is recorded as text has to be text, of a length that leaves room in a record.
Result<void> check_texts(const RunCommand& command) {
  constexpr std::size_t kMaxBytes = 1024;
  const std::array<std::pair<const char*, const std::string&>, 5> texts = {
      {{"--agent-id", command.agent_id},
       {"--team-id", command.team_id},
       {"--root-agent", command.root_agent},
       {"--governance-level", command.governance_level},
       {"--isolation-backend", command.backend}}};
  for (const auto& [option, text] : texts) {
    if (!schema::is_valid_utf8(text)) {
      return Error(ErrorCode::kInvalidArgument, std::string(option) + " takes UTF-8 text");
    }
    if (text.size() > kMaxBytes) {
      return Error(ErrorCode::kInvalidArgument,
                   std::string(option) + " takes at most " + std::to_string(kMaxBytes) + " bytes");
    }
  }
  return {};
}

schema::AgentIdentity identity_of(const RunCommand& command) {
  return {command.agent_id.empty() ? "unnamed" : command.agent_id,
          non_empty(command.team_id),
          non_empty(command.root_agent),
          non_empty(command.governance_level),
          {}};
}

}  // namespace

Result<schema::HostConditions> host_conditions(const std::string& helper_path,
                                               process::DigestCache& digests) {
  const std::string aasm_path = AASM_TRY(own_executable());
  const schema::Sha256 aasm_digest = AASM_TRY(digest_of(aasm_path, digests));
  return process::read_host_conditions(aasm_digest, AASM_TRY(digest_of(helper_path, digests)));
}

bool is_refused_as_nested(const RunCommand& command) {
  return command.isolation != schema::IsolationClass::kNone && process::seems_inside_a_run();
}

Result<Launch> gather_launch(const RunCommand& command, const Home& home,
                             process::DigestCache& digests) {
  AASM_TRY(check_texts(command));
  Launch launch{home, {}, AASM_TRY(find_helper()), AASM_TRY(own_executable()), {}, {}, {}, {},
                {},   {}, make_backends()};
  launch.working_dir = AASM_TRY(enter_working_dir(command.workdir));
  launch.conditions = AASM_TRY(host_conditions(launch.helper_path, digests));
  launch.policy = policy_in_use(command.policy, launch.home, launch.working_dir);
  const bool observes = command.mode == planner::EnforcementMode::kObserve;
  if (observes && command.isolation == schema::IsolationClass::kNone) {
    return Error(schema::ErrorCode::kInvalidArgument,
                 "--observe needs a boundary to see from; leave --isolation none out");
  }
  if (observes) {
    planner::wish_to_observe(launch.policy.record);
  }
  const FoundProgram found = AASM_TRY(find_program(command));
  launch.refusals = found.refusals;
  if (is_refused_as_nested(command)) {
    launch.refusals.push_back(planner::refuse_nested_run());
  }
  planner::BuiltSpec built =
      planner::build_spec(launch.policy, {identity_of(command), found.path, command.argv.front(),
                                          static_cast<std::int64_t>(command.argv.size()) - 1,
                                          launch.working_dir, own_environment()});
  launch.spec = std::move(built.spec);
  launch.spec.mode = command.mode;
  launch.environment = std::move(built.environment);
  launch.protect = protected_paths(launch.home, command.common.ledger,
                                   {launch.helper_path, launch.aasm_path}, launch.policy);
  return launch;
}

planner::PlanningOutcome plan_launch(const Launch& launch, const RunCommand& command,
                                     planner::ProbeSource probe) {
  planner::SelectionInput input;
  input.isolation = command.isolation;
  input.backend_pin = non_empty(command.backend);
  for (const auto& backend : launch.backends) {
    input.backends.push_back(backend.get());
  }
  input.policy = &launch.policy;
  input.spec = launch.spec;
  input.protect = launch.protect;
  input.probe = std::move(probe);
  input.hash = sha256;
  input.earlier = launch.refusals;
  input.resolver = launch.policy.resolver;
  return planner::select_and_negotiate(input);
}

Result<schema::RunOpened> opened_body(const Launch& launch, const RunCommand& command) {
  schema::RunOpened body;
  body.identity = launch.spec.identity;
  body.session_id = AASM_TRY(random_id());
  body.trace_id = AASM_TRY(random_id());
  body.program = schema::PathBytes(command.argv.front());
  body.arg_count = launch.spec.arg_count;
  body.working_dir = launch.spec.working_dir;
  body.isolation = command.isolation;
  body.enforcement_mode = planner::mode_token(command.mode);
  body.backend_pin = non_empty(command.backend);
  body.aasm_version = kVersion;
  body.host = launch.conditions;
  return body;
}

Result<schema::CapabilityProbed> probe_backend(planner::Backend& backend,
                                               const schema::HostConditions& conditions,
                                               const std::string& helper_path) {
  std::error_code code;
  const fs::path folder = fs::temp_directory_path(code);
  std::string scratch = (folder / "aasm-probe-XXXXXX").string();
  if (code || mkdtemp(scratch.data()) == nullptr) {
    const int os_errno = code ? code.value() : errno;
    return process::system_error(
        "cannot make a directory to probe in (in " +
            (code ? environment_variable("TMPDIR").value_or("/tmp") : folder.string()) +
            "; TMPDIR names another place)",
        os_errno);
  }
  fs::permissions(scratch, fs::perms::owner_all, code);  // mkdtemp(3) minds the umask
  Result<schema::CapabilityProbed> probed = backend.probe({conditions, helper_path, scratch});
  fs::remove_all(scratch, code);
  return probed;
}

}  // namespace aasm::cli
