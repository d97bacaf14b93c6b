#include "inherited.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <utility>

#include "aasm/planner/refusal.h"

namespace aasm::cli {
namespace {

using process::OpenDescriptor;
using schema::AuthorityFate;

using Identity = std::pair<std::uint64_t, std::uint64_t>;  // device, inode
using PathsById = std::map<Identity, std::string>;

void note(const std::string& path, PathsById& paths) {
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0) {
    paths.emplace(Identity(info.st_dev, info.st_ino), path);
  }
}

// The files themselves, of a folder also what is in it if that is asked for.
PathsById identities_of(const std::vector<std::string>& list, bool look_inside) {
  PathsById paths;
  for (const std::string& path : list) {
    note(path, paths);
    if (!look_inside) {
      continue;
    }
    std::error_code error;
    std::filesystem::directory_iterator entry(path, error);
    for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
      note(entry->path().string(), paths);
    }
  }
  return paths;
}

const std::string* path_of(const OpenDescriptor& open, const PathsById& paths) {
  const auto found = paths.find({open.device, open.inode});
  return found == paths.end() ? nullptr : &found->second;
}

// Our folders hold files and folders, and most runs inherit a terminal and pipes.
bool may_be_in_a_folder(const OpenDescriptor& open) {
  return open.kind == schema::DescriptorKind::kFile ||
         open.kind == schema::DescriptorKind::kDirectory;
}

void refuse_own_files(std::vector<OpenDescriptor> inherited, Launch& launch) {
  const std::vector<int>& passed = launch.environment.descriptors;
  std::erase_if(inherited, [&passed](const OpenDescriptor& open) {
    return std::find(passed.begin(), passed.end(), open.number) == passed.end();
  });
  const bool look_inside = std::any_of(inherited.begin(), inherited.end(), may_be_in_a_folder);
  PathsById evidence = identities_of(launch.protect.unreadable, look_inside);
  note(launch.protect.home, evidence);  // whoever has it open lists it and changes its mode
  const PathsById control = identities_of(launch.protect.unwritable, look_inside);
  for (const OpenDescriptor& open : inherited) {
    if (const std::string* path = path_of(open, evidence)) {
      launch.refusals.push_back(planner::refuse_descriptor_of_evidence(open.number, *path));
    } else if (const std::string* confining = open.writable ? path_of(open, control) : nullptr) {
      launch.refusals.push_back(planner::refuse_descriptor_of_control(open.number, *confining));
    }
  }
}

}  // namespace

Inherited take_inherited() {
  std::vector<OpenDescriptor> open = AASM_TRY(process::list_open_descriptors());
  // What is close-on-exec already did not come through an exec: it is this process's own.
  open.erase(std::remove_if(open.begin(), open.end(),
                            [](const OpenDescriptor& one) { return one.close_on_exec; }),
             open.end());
  return open;
}

void add_inherited(const Inherited& inherited, const RunCommand& command, Launch& launch) {
  if (!inherited) {
    return;  // the record says that they are not listed
  }
  std::vector<schema::InheritedDescriptor> list;
  for (const OpenDescriptor& open : *inherited) {
    const bool ours = command.status_fd == open.number;
    list.push_back({open.number, open.kind, open.writable,
                    ours ? AuthorityFate::kRemoved : AuthorityFate::kAmbientUnremoved});
  }
  const bool confined = command.isolation != schema::IsolationClass::kNone;
  planner::list_descriptors(list, launch.environment.descriptors, confined, launch.spec.ambient);
  if (confined) {
    refuse_own_files(*inherited, launch);
  }
}

}  // namespace aasm::cli
