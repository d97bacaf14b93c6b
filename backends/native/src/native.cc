#include "aasm/backends/native.h"

#include <utility>

#include "action_view.h"
#include "launch_material.h"
#include "lowering.h"
#include "prepared.h"
#include "probe.h"
#include "steps.h"

namespace aasm::backend_native {
namespace {

class NativeBackend final : public planner::Backend {
 public:
  schema::BackendIdentity identity() const override {
    schema::BackendIdentity identity;
    identity.id = "aasm-native";
    identity.version = AASM_NATIVE_VERSION;
    identity.source = "part of aasm";
    identity.license = "Apache-2.0";
    return identity;
  }

  schema::IsolationClass isolation_class() const override {
    return schema::IsolationClass::kProcess;
  }

  // tests/sandbox and tests/conformance run on x86_64, the one architecture that builds.
  bool experimental() const override { return false; }

  schema::Result<schema::CapabilityProbed> probe(const planner::ProbeRequest& request) override {
    return probe_host(request, identity());
  }

  schema::CapabilityProbed narrow(const planner::ExecutionSpec& spec,
                                  schema::CapabilityProbed measured) const override {
    return narrow_capabilities(spec, std::move(measured));
  }

  std::vector<std::string> steps(const planner::ExecutionSpec& spec) const override {
    return installation_steps(spec);
  }

  planner::ActionView view(const planner::ExecutionSpec& spec,
                           const planner::Action& action) const override {
    return view_action(spec, action);
  }

  schema::Result<std::unique_ptr<planner::PreparedExecution>> prepare(
      const planner::LaunchRequest& request) override {
    return NativePrepared::create(AASM_TRY(gather_material(request)));
  }
};

}  // namespace

std::unique_ptr<planner::Backend> make_native_backend() {
  return std::make_unique<NativeBackend>();
}

}  // namespace aasm::backend_native
