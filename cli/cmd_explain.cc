#include "aasm/backends/syscall_vocabulary.h"
#include "aasm/crypto/prepare.h"
#include "aasm/planner/explain.h"
#include "aasm/process/digest_cache.h"
#include "aasm/process/next_image.h"

#include "commands.h"
#include "exit_status.h"
#include "explain_launch.h"
#include "explain_text.h"
#include "home.h"
#include "launch.h"
#include "print.h"

namespace aasm::cli {
namespace {

using schema::Error;
using schema::ErrorCode;
using schema::Result;

// What a run with this policy would be. Which program it is makes no difference to the boundary.
RunCommand as_run(const PolicyExplainCommand& command) {
  RunCommand run;
  run.common = command.common;
  run.policy = absolute_or_empty(command.file);
  run.workdir = command.workdir;
  run.argv = {"true"};
  return run;
}

Result<void> check_loaded(const planner::ResolvedPolicy& policy) {
  switch (policy.record.state) {
    case schema::PolicyState::kEnforced:
    case schema::PolicyState::kPermissive:
      return {};
    case schema::PolicyState::kLoadFailed:
      return Error(ErrorCode::kMalformed, "the policy does not load: " + policy.record.error);
    case schema::PolicyState::kUnconfigured:
      break;
  }
  return Error(ErrorCode::kNotFound,
               policy.source_path.empty()
                   ? "there is no policy; name one with --policy, or make one with `aasm init`"
                   : policy.source_path + " states no control");
}

Result<planner::NeededFile> needed_file(const std::string& path) {
  const process::NextImage next = AASM_TRY(process::next_image(path));
  switch (next.kind) {
    case process::NextImage::Kind::kNone:
      break;
    case process::NextImage::Kind::kInterpreter:
      return planner::NeededFile{planner::NeededFile::Kind::kInterpreter, next.path};
    case process::NextImage::Kind::kLoader:
      return planner::NeededFile{planner::NeededFile::Kind::kLoader, next.path};
    case process::NextImage::Kind::kRefused:
      return planner::NeededFile{planner::NeededFile::Kind::kRefused};
  }
  return planner::NeededFile();
}

Result<bool> explain_all(const PolicyExplainCommand& command) {
  crypto::prepare();
  const RunCommand run = as_run(command);
  const Home home = AASM_TRY(Home::locate());
  process::DigestCache digests = process::DigestCache::load(home.file("digests"));
  Launch launch = AASM_TRY(gather_launch(run, home, digests));
  launch.refusals.clear();
  AASM_TRY(check_loaded(launch.policy));
  const LaunchOutlook outlook = look_at_launch(launch, run);
  const auto vocabulary = backend_native::make_syscall_vocabulary();
  planner::HostView host = planner::this_host();
  host.needs = needed_file;
  const planner::ExplainInput input{launch.policy.record.requirements,
                                    launch.policy.places,
                                    launch.spec,
                                    outlook.asked,
                                    *vocabulary,
                                    host,
                                    launch.working_dir,
                                    launch.policy.each};
  std::vector<planner::ExplainedObject> objects;
  bool answered = true;
  for (const std::string& what : command.what) {
    Result<planner::ExplainedObject> object = planner::explain(input, what, command.operation);
    if (object) {
      objects.push_back(std::move(*object));
    } else {
      print_err(error_line(object.error()));
      answered = false;
    }
  }
  if (command.common.format == Format::kJson) {
    print_json(explain_json(launch.policy, outlook, objects));
  } else {
    print_out(explain_text(launch.policy, outlook, objects));
  }
  return answered;
}

}  // namespace

int run_policy_explain(const PolicyExplainCommand& command) {
  const Result<bool> answered = explain_all(command);
  if (!answered) {
    print_err(error_line(answered.error()));
    return kExitFailed;
  }
  return *answered ? kExitOk : kExitFailed;
}

}  // namespace aasm::cli
