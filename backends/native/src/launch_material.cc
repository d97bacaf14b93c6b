#include "launch_material.h"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "bpf.h"
#include "canary_objects.h"
#include "file_observe.h"
#include "landlock_uapi.h"
#include "lowering.h"

namespace aasm::backend_native {
namespace {

using schema::Domain;
using schema::Error;
using schema::ErrorCode;
using schema::Requirement;
using schema::Result;

Result<void> check_filesystem_stated(const std::vector<Requirement>& requirements) {
  for (const Domain domain : {Domain::kFilesystemRead, Domain::kFilesystemWrite}) {
    if (requirement_on(requirements, domain) == nullptr) {
      return Error(ErrorCode::kUnsupported, "aasm-native needs a requirement to prevent on " +
                                                std::string(schema::token(domain)) +
                                                ", and there is none");
    }
  }
  return {};
}

Result<process::ExecTarget> find_program(const std::string& program) {
  process::TargetResolution resolution = AASM_TRY(process::resolve_target(program, std::nullopt));
  if (resolution.refusal) {
    const bool missing = resolution.refusal->reason == schema::LaunchRefusal::kProgramNotFound;
    return Error(
        missing ? ErrorCode::kNotFound : ErrorCode::kPermissionDenied,
        schema::PathBytes(resolution.refusal->path).display() + ": " + resolution.refusal->detail,
        resolution.refusal->os_errno);
  }
  return std::move(*resolution.target);
}

Result<std::vector<schema::PreparedImage>> hash_images(const process::ExecTarget& target,
                                                       process::DigestCache& digests) {
  std::vector<schema::PreparedImage> images;
  for (const process::ExecImage& image : target.images) {
    const process::FileDigest digest = AASM_TRY_CONTEXT(
        digests.digest_of(image.fd.borrow()), "hashing " + schema::PathBytes(image.path).display());
    images.push_back({image.role, schema::PathBytes(image.resolved), image.identity.device,
                      image.identity.inode, image.identity.size, digest.digest, digest.cached});
  }
  // The cache only saves time; a home it cannot be written to costs the next run a hash.
  static_cast<void>(digests.save().has_value());
  return images;
}

// Programs of ours that run now. Opening them for writing says ETXTBSY whoever asks.
std::vector<std::string> executing_paths(const std::string& helper) {
  std::vector<std::string> paths = {helper};
  std::array<char, 4096> self{};
  const ssize_t length = ::readlink("/proc/self/exe", self.data(), self.size());
  if (length > 0) {
    paths.emplace_back(self.data(), static_cast<std::size_t>(length));
  }
  return paths;
}

// Those of `listed` that a program started without us would inherit too. One that is closed cannot
// be passed on; one that is close-on-exec is ours, whatever number it was given.
std::vector<int> inheritable_descriptors(const std::vector<int>& listed) {
  std::vector<int> inheritable;
  for (const int fd : listed) {
    const int flags = ::fcntl(fd, F_GETFD);
    if (flags >= 0 && (flags & FD_CLOEXEC) == 0) {
      inheritable.push_back(fd);
    }
  }
  return inheritable;
}

// What is in force besides what is observed.
Result<void> observe(const planner::LaunchRequest& request, const Observing& observing,
                     Ruleset& ruleset, FilterSpec& filter) {
  filter.observing = observing;
  filter.network.observes_names = observing.covers(Domain::kNameResolution);
  if (observing.covers(Domain::kIpc)) {
    observe_ipc(filter.ipc);
  }
  if (observing.covers(Domain::kFilesystemRead) && observing.covers(Domain::kFilesystemWrite)) {
    AASM_TRY(grant_everything(ruleset));
    filter.files =
        AASM_TRY(observing_files(std::move(filter.files), request.protect, *ruleset.everything));
  }
  observe_calls(filter);
  return {};
}

Result<void> plan_launch_canaries(LaunchMaterial& material) {
  const planner::LaunchRequest& request = material.request;
  AASM_TRY(ensure_canary_objects(request.protect.canary_dir));
  material.ipc_objects = IpcCanaryObjects(material.filter.ipc, request.protect.canary_dir);
  material.canary_descriptor = AASM_TRY(process::open_file("/dev/null", O_RDONLY));
  material.canaries = plan_canaries(
      {request.spec.requirements, request.protect, material.filter, material.capabilities,
       material.cut.has_value(), under_a_filter(), ::getpid(), material.canary_descriptor.get(),
       executing_paths(request.helper_path), material.canary_listener.address, material.limits,
       material.ipc_objects.names()});
  return {};
}

}  // namespace

Result<LaunchMaterial> gather_material(const planner::LaunchRequest& request) {
  std::vector<Requirement> requirements = installable_requirements(request.spec);
  AASM_TRY(check_filesystem_stated(requirements));
  const std::int64_t abi = AASM_TRY(landlock_abi());
  const Observing observing(request.plan, requirements);
  Ruleset ruleset =
      AASM_TRY(build_ruleset(requirements, abi, observing.covers(Domain::kIpc) ? 0 : UINT64_MAX));
  FilterSpec filter = AASM_TRY(
      make_filter_spec(requirement_on(requirements, Domain::kSyscall),
                       observing.covers(Domain::kSyscall) ? "errno" : request.spec.on_denial));
  filter.network = AASM_TRY(network_spec_of(requirements));
  filter.ipc = AASM_TRY(ipc_spec_of(requirements));
  filter.files = AASM_TRY(make_file_spec(requirements, ruleset.read_grants, ruleset.write_grants));
  filter.ceiling = process_ceiling(requirements);
  AASM_TRY(observe(request, observing, ruleset, filter));
  process::ExecTarget target = AASM_TRY(find_program(request.spec.program.bytes()));
  process::DigestCache digests = process::DigestCache::load(
      request.protect.home.empty() ? "" : request.protect.home + "/digests");
  std::vector<schema::PreparedImage> images = AASM_TRY(hash_images(target, digests));
  const CapabilitySets capabilities = AASM_TRY(own_capabilities());
  LaunchMaterial material{request,
                          std::move(ruleset),
                          std::move(filter),
                          {},
                          std::move(target),
                          std::move(digests),
                          std::move(images),
                          capabilities,
                          capability_cut(capabilities),
                          {},
                          {},
                          {},
                          {},
                          {},
                          {},
                          {},
                          {}};
  material.request.spec.requirements = std::move(requirements);
  material.request.descriptors = inheritable_descriptors(request.descriptors);
  material.limits = process_limits(material.request.spec.requirements, own_limit);
  const std::optional<MemoryLimit> memory = memory_limit(material.request.spec.requirements);
  if (memory) {
    if (const Result<MemoryPlace> place = own_memory_place()) {
      material.memory = AASM_TRY(MemoryGroup::make(*place, memory->bytes));
    }
  }
  material.program = build_filter(material.filter);
  if (material.filter.brokers()) {
    material.inner_ruleset = AASM_TRY(build_inner_ruleset(material.filter.network, abi));
  }
  if (material.filter.network.judges()) {
    material.canary_listener = open_canary_listener();
  }
  if (!request.spec.working_dir.empty()) {
    material.working_dir =
        AASM_TRY_CONTEXT(process::open_file(request.spec.working_dir.bytes(), O_PATH | O_DIRECTORY),
                         "the working directory");
  }
  AASM_TRY(plan_launch_canaries(material));
  return material;
}

HelperSpec launch_helper_spec(const LaunchMaterial& material, process::BorrowedFd helper) {
  HelperSpec spec;
  spec.helper = helper;
  FrameSpec& frame = spec.frame;
  frame.role = wire::Role::kLaunch;
  frame.argv = material.request.argv;
  frame.environment = material.request.environment;
  if (material.target.bound == schema::BoundBy::kDescriptor) {
    frame.exec_fd = material.target.program().fd.get();
  } else {
    frame.exec_path = material.target.path;
    frame.exec_identity = exec_identity(material.target.program().identity);
  }
  frame.cwd_fd = material.working_dir.get();
  frame.descriptors = material.request.descriptors;
  frame.rulesets = {{material.ruleset.fd.get(), restrict_flags(material.ruleset.abi)}};
  if (material.inner_ruleset) {
    frame.rulesets.push_back({material.inner_ruleset->fd.get(), frame.rulesets[0].flags});
    frame.broker = true;
  }
  frame.rlimits = rlimits_of(material.limits);
  frame.filter = material.program;
  frame.seccomp_flags = SECCOMP_FILTER_FLAG_NEW_LISTENER | kWaitKillableRecv;
  frame.capabilities = material.cut;
  const InheritedSignals signals = inherited_signals();
  frame.signal_mask = material.request.signal_mask;
  frame.ignored_signals = signals.ignored;
  frame.script = material.canaries.script.entries();
  frame.script_data = material.canaries.script.data();
  spec.passed_unlisted = {material.canary_descriptor.get()};
  return spec;
}

std::vector<wire::Rlimit> rlimits_of(const std::vector<ProcessLimit>& limits) {
  std::vector<wire::Rlimit> set = {{RLIMIT_CORE, 0, 0, 0}};
  for (const ProcessLimit& limit : limits) {
    set.push_back(limit.set);
  }
  return set;
}

CanaryScript channel_script(const CanaryPlan& plan) {
  CanaryScript script;
  const std::vector<wire::ScriptEntry>& entries = plan.script.entries();
  for (const wire::ScriptEntry& entry : entries) {
    script.calls.push_back(static_cast<std::int32_t>(entry.number));
  }
  for (const std::uint32_t entry : plan.forbidden_entries) {
    script.forbidden.push_back(static_cast<std::int32_t>(entries.at(entry).number));
  }
  return script;
}

std::set<std::uint32_t> reported_entries(const CanaryPlan& plan,
                                         const std::vector<CanaryReport>& reports) {
  std::set<std::uint32_t> entries;
  std::vector<CanaryReport> left = reports;  // in the order of the script
  for (const std::uint32_t entry : plan.forbidden_entries) {
    const auto number = static_cast<std::int32_t>(plan.script.entries().at(entry).number);
    const auto report = std::find_if(left.begin(), left.end(), [number](const CanaryReport& one) {
      return one.number == number;
    });
    if (report != left.end()) {
      entries.insert(entry);
      left.erase(report);
    }
  }
  return entries;
}

bool under_a_filter() {
  return ::prctl(PR_GET_SECCOMP, 0, 0, 0, 0) != 0;
}

std::uint32_t restrict_flags(std::int64_t abi) {
  return abi >= landlock::kLogFlagsAbi ? landlock::kLogNewExecOn : 0;
}

}  // namespace aasm::backend_native
