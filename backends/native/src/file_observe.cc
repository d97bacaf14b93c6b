#include "file_observe.h"

#include <system_error>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "file_mounts.h"
#include "mountinfo.h"
#include "observing.h"

namespace aasm::backend_native {
namespace {

using schema::Domain;

constexpr const char* kOwnFiles = "self_protection.aasm_files";

// A directory stands for the files in it too, which may have other names elsewhere.
std::vector<std::string> unreadable_places(const planner::ProtectedPaths& protect) {
  std::vector<std::string> places = protect.unreadable;
  places.push_back(protect.home);
  for (const std::string& path : protect.unreadable) {
    std::error_code ignored;
    std::filesystem::directory_iterator entries(path, ignored);
    for (; !ignored && entries != std::filesystem::directory_iterator();
         entries.increment(ignored)) {
      places.push_back(entries->path().string());
    }
  }
  return places;
}

// Of a place that links lead to.
void deny(const std::string& path, Domain domain, FileSpec& spec) {
  if (path.empty()) {
    return;
  }
  const schema::Result<planner::WalkedPath> walked = planner::PathWalker()(path);
  const std::string& place = walked ? walked->resolved : path;
  spec.denials.push_back({kOwnFiles, domain, place, ways_to(place)});
}

// Of the host: EXDEV may be another filesystem, and Landlock grants everything.
bool is_refusal(int os_errno) {
  return os_errno == EACCES || os_errno == EPERM || os_errno == EROFS;
}

}  // namespace

schema::Result<FileSpec> observing_files(FileSpec policy, const planner::ProtectedPaths& protect,
                                         const schema::PathGrant& everything) {
  FileSpec spec = policy;
  spec.denials.clear();
  std::vector<std::string> unreadable = unreadable_places(protect);
  if (!protect.home.empty()) {
    const std::string mountinfo = AASM_TRY(read_mountinfo());
    for (std::string& place : mounts_from_below(mountinfo, protect.home)) {
      unreadable.push_back(std::move(place));
    }
  }
  for (const std::string& path : unreadable) {
    deny(path, Domain::kFilesystemWrite, spec);
    deny(path, Domain::kFilesystemRead, spec);
  }
  for (const std::string& path : protect.unwritable) {
    deny(path, Domain::kFilesystemWrite, spec);
  }
  spec.grants = {{everything.rule, Domain::kFilesystemRead, everything.resolved.bytes(),
                  FileId{everything.device, everything.inode}, mask_of(everything.access)}};
  spec.policy = std::make_shared<const FileSpec>(std::move(policy));
  return spec;
}

FileVerdict observe_file(const FileSpec& spec, const FileCall& call, int os_errno) {
  const FileSpec& policy = *spec.policy;
  if (is_refusal(os_errno)) {
    FileVerdict verdict = blame_refusal(policy, call, os_errno);
    verdict.event.cause = schema::DecisionCause::kHostPermission;
    verdict.event.mechanism = "broker";
    return verdict;
  }
  if (os_errno != 0) {
    return unrecorded();
  }
  FileVerdict verdict = judge_file(policy, call);
  if (verdict.perform) {
    verdict = blame_refusal(policy, call, EACCES);
    const bool by_policy =
        verdict.recorded && verdict.event.cause == schema::DecisionCause::kPolicy;
    verdict = by_policy ? verdict : blame_refusal(policy, call, EXDEV);
  }
  if (!verdict.recorded) {
    return unrecorded();
  }
  verdict.perform = true;
  verdict.event = seen(std::move(verdict.event));
  verdict.event.mechanism = "broker";
  return verdict;
}

FileVerdict judge_outcome(const FileSpec& spec, const FileCall& call, int os_errno) {
  if (spec.observes()) {
    return observe_file(spec, call, os_errno);
  }
  return os_errno == 0 ? judge_file(spec, call) : blame_refusal(spec, call, os_errno);
}

FileVerdict observe_execution(const FileSpec& spec, const FileCall& call, int os_errno) {
  if (os_errno != 0) {
    return observe_file(spec, call, os_errno);
  }
  FileVerdict verdict = judge_execution(*spec.policy, call);
  if (verdict.perform) {
    return unrecorded();
  }
  verdict.perform = true;
  verdict.event = seen(std::move(verdict.event));
  return verdict;
}

}  // namespace aasm::backend_native
