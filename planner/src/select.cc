#include "aasm/planner/select.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "aasm/planner/grant_guard.h"
#include "aasm/planner/negotiate.h"
#include "aasm/planner/plan.h"
#include "aasm/planner/refusal.h"

namespace aasm::planner {
namespace {

using schema::Candidate;
using schema::CandidateVerdict;
using schema::Domain;
using schema::IsolationClass;
using schema::PolicyState;
using schema::Refusal;
using schema::SelectionMode;

struct Known {
  std::string_view id;
  IsolationClass isolation_class;
};

// docs/decisions/0003-native-first.md says why the native backend comes first.
constexpr std::array kWalk = {
    Known{"aasm-native", IsolationClass::kProcess}, Known{"sandlock", IsolationClass::kProcess},
    Known{"gvisor", IsolationClass::kUserspaceKernel}, Known{"microvm", IsolationClass::kMicrovm}};

// One stop of the walk; `backend` is null for one this version does not build.
struct Stop {
  std::string id;
  IsolationClass isolation_class = IsolationClass::kProcess;
  Backend* backend = nullptr;
};

std::vector<Stop> walk_of(const std::vector<Backend*>& backends) {
  std::vector<Stop> stops;
  stops.reserve(std::size(kWalk));
  for (const Known& known : kWalk) {
    stops.push_back({std::string(known.id), known.isolation_class, nullptr});
  }
  for (Backend* backend : backends) {
    const std::string id = backend->identity().id;
    const auto stop =
        std::find_if(stops.begin(), stops.end(), [&](const Stop& one) { return one.id == id; });
    if (stop != stops.end()) {
      stop->isolation_class = backend->isolation_class();
      stop->backend = backend;
    } else {
      stops.push_back({id, backend->isolation_class(), backend});
    }
  }
  return stops;
}

SelectionMode mode_of(const SelectionInput& input) {
  if (input.isolation == IsolationClass::kNone) {
    return SelectionMode::kNone;
  }
  return input.backend_pin ? SelectionMode::kExplicit : SelectionMode::kAutomatic;
}

bool states(const ExecutionSpec& spec, Domain domain) {
  return requirement_on(spec.requirements, domain) != nullptr;
}

// The walk over the candidates and what it gathers.
class Selection {
 public:
  explicit Selection(const SelectionInput& input) : input_(input), view_(view_of(*input.policy)) {}

  PlanningOutcome run() {
    refusals_ = input_.earlier;
    if (input_.backend_pin && input_.isolation == IsolationClass::kNone) {
      refusals_.push_back(refuse_backend_with_none(*input_.backend_pin));
    }
    policy_refusals();
    const bool readable = input_.policy->record.state == PolicyState::kEnforced;
    if (input_.isolation == IsolationClass::kNone) {
      return refusals_.empty() ? unconfined() : refuse();
    }
    if (!readable) {
      return refuse();
    }
    statement_refusals();
    if (!input_.spec.requirements.empty() && !is_nested()) {
      walk();
    }
    return refusals_.empty() ? confined() : refuse();
  }

 private:
  struct Chosen {
    Backend* backend = nullptr;
    Negotiation negotiation;
  };

  // Nothing is measured inside a run: what its boundary refuses is no fault of the host.
  bool is_nested() const {
    return std::any_of(input_.earlier.begin(), input_.earlier.end(), [](const Refusal& refusal) {
      return refusal.launch == schema::LaunchRefusal::kNestedRunUnsupported;
    });
  }

  void policy_refusals() {
    const bool confined = input_.isolation != IsolationClass::kNone;
    switch (input_.policy->record.state) {
      case PolicyState::kEnforced:
        return;
      case PolicyState::kPermissive:
        if (confined) {
          refusals_.push_back(refuse_policy_permissive(view_));
        }
        return;
      case PolicyState::kUnconfigured:
        refusals_.push_back(refuse_policy_unconfigured(view_, input_.policy->looked_in));
        return;
      case PolicyState::kLoadFailed:
        refusals_.push_back(refuse_policy_load_failed(input_.policy->record.error));
        return;
    }
  }

  void statement_refusals() {
    if (input_.spec.requirements.empty()) {
      refusals_.push_back(refuse_no_requirements(view_));
      return;
    }
    const bool read = states(input_.spec, Domain::kFilesystemRead);
    const bool write = states(input_.spec, Domain::kFilesystemWrite);
    if (!read || !write) {
      refusals_.push_back(refuse_filesystem_not_stated(view_, read, write));
    }
    for (Refusal& refusal :
         check_grants(input_.spec.requirements, input_.protect, view_, input_.resolver)) {
      refusals_.push_back(std::move(refusal));
    }
  }

  void walk() {
    const std::vector<Stop> stops = walk_of(input_.backends);
    if (input_.backend_pin && !pin_is_usable(stops)) {
      return;
    }
    std::vector<Refusal> rejections;
    for (const Stop& stop : stops) {
      if (const std::optional<std::string> reason = passed_over(stop)) {
        candidates_.push_back({stop.id, CandidateVerdict::kNotConsidered, *reason, {}});
        continue;
      }
      consider(stop, rejections);
    }
    if (chosen_) {
      return;
    }
    if (not_built_.size() > 1) {
      rejections.push_back(refuse_backends_not_built(not_built_));
    } else if (!not_built_.empty()) {
      rejections.push_back(refuse_backend_unavailable(not_built_.front(),
                                                      "not built in this version" + built_text()));
    }
    if (rejections.empty()) {
      rejections.push_back(refuse_backend_unavailable(std::string(schema::token(input_.isolation)),
                                                      "no backend of this class is known"));
    }
    refusals_.insert(refusals_.end(), std::make_move_iterator(rejections.begin()),
                     std::make_move_iterator(rejections.end()));
  }

  bool pin_is_usable(const std::vector<Stop>& stops) {
    const auto stop = std::find_if(stops.begin(), stops.end(),
                                   [&](const Stop& one) { return one.id == *input_.backend_pin; });
    if (stop == stops.end()) {
      refusals_.push_back(
          refuse_unknown_backend(*input_.backend_pin, known_backends(input_.backends)));
      return false;
    }
    if (input_.isolation != IsolationClass::kAuto && stop->isolation_class != input_.isolation) {
      refusals_.push_back(refuse_backend_class(stop->id, stop->isolation_class, input_.isolation));
      return false;
    }
    return true;
  }

  // Why a candidate is not looked at; nullopt when it is.
  std::optional<std::string> passed_over(const Stop& stop) const {
    if (input_.backend_pin) {
      return stop.id == *input_.backend_pin
                 ? std::nullopt
                 : std::optional<std::string>("another backend is pinned");
    }
    if (input_.isolation != IsolationClass::kAuto && stop.isolation_class != input_.isolation) {
      return "its class is " + std::string(schema::token(stop.isolation_class)) +
             " and the class asked for is " + std::string(schema::token(input_.isolation));
    }
    if (chosen_) {
      return "an earlier candidate is selected";
    }
    return std::nullopt;
  }

  void consider(const Stop& stop, std::vector<Refusal>& rejections) {
    const auto unavailable = [&](const std::string& reason) {
      candidates_.push_back({stop.id, CandidateVerdict::kRejectedUnavailable, reason, {}});
      rejections.push_back(refuse_backend_unavailable(stop.id, reason));
    };
    if (stop.backend == nullptr) {
      unavailable("not built in this version" + built_text());
      if (!input_.backend_pin) {  // told together at the end of the walk
        rejections.pop_back();
        not_built_.push_back(stop.id);
      }
      return;
    }
    schema::Result<schema::CapabilityProbed> probed = input_.probe(*stop.backend);
    if (!probed) {
      return unavailable("nothing could be measured: " + probed.error().message());
    }
    probes_.push_back(*probed);
    if (!probed->available) {
      unavailable(probed->unavailable_reason);
      rejections.back().reason = schema::RefusalReason::kPrerequisiteUnsatisfied;
      return;
    }
    schema::CapabilityProbed narrowed = stop.backend->narrow(input_.spec, std::move(*probed));
    narrowed.backend.id = stop.id;
    Negotiation negotiation =
        negotiate(input_.spec.requirements, narrowed, view_, input_.spec.mode);
    if (negotiation.refusals.empty()) {
      candidates_.push_back({stop.id, CandidateVerdict::kSelected, chosen_reason(), {}});
      chosen_ = Chosen{stop.backend, std::move(negotiation)};
      return;
    }
    candidates_.push_back({stop.id, CandidateVerdict::kRejectedRequirementsUnmet,
                           unmet_sentence(negotiation.refusals), std::move(negotiation.unmet)});
    for (Refusal& refusal : negotiation.refusals) {
      rejections.push_back(std::move(refusal));
    }
  }

  // ", which has aasm-native (class process)": what there is instead.
  std::string built_text() const {
    std::string text;
    for (Backend* backend : input_.backends) {
      text += (text.empty() ? ", which has " : ", ") + backend->identity().id + " (class " +
              std::string(schema::token(backend->isolation_class())) + ")";
    }
    return text.empty() ? ", which has none" : text;
  }

  std::string chosen_reason() const {
    return input_.backend_pin ? "pinned, and it meets every required requirement"
                              : "the first candidate that meets every required requirement";
  }

  static std::string unmet_sentence(const std::vector<Refusal>& refusals) {
    std::string text;
    for (const Refusal& refusal : refusals) {
      text.append(text.empty() ? "" : ", ").append(schema::token(*refusal.domain));
      text.append(": ").append(schema::token(*refusal.reason));
    }
    return text;
  }

  PlanningOutcome refuse() {
    schema::PlanRefused record;
    record.requested = input_.isolation;
    record.selection = mode_of(input_);
    record.candidates = std::move(candidates_);
    record.refusals = std::move(refusals_);
    sort_refusals(record.refusals);
    record.ambient = input_.spec.ambient;
    return {std::move(record), nullptr, std::move(probes_)};
  }

  PlanningOutcome unconfined() {
    schema::PlanResolved plan;
    plan.requested = IsolationClass::kNone;
    plan.selection = SelectionMode::kNone;
    plan.posture = schema::LaunchPosture::kUnconfined;
    plan.outcomes = unconfined_outcomes(input_.spec.requirements);
    plan.digest = plan_digest(input_.spec, plan, input_.hash);
    plan.ambient = input_.spec.ambient;
    return {std::move(plan), nullptr, {}};
  }

  PlanningOutcome confined() {
    schema::PlanResolved plan;
    plan.requested = input_.isolation;
    plan.selection = mode_of(input_);
    plan.candidates = std::move(candidates_);
    plan.backend = chosen_->backend->identity();
    plan.experimental = chosen_->backend->experimental();
    plan.posture = chosen_->negotiation.posture;
    plan.outcomes = std::move(chosen_->negotiation.outcomes);
    plan.steps = chosen_->backend->steps(input_.spec);
    plan.digest = plan_digest(input_.spec, plan, input_.hash);
    plan.ambient = input_.spec.ambient;
    return {std::move(plan), chosen_->backend, std::move(probes_)};
  }

  const SelectionInput& input_;
  const PolicyView view_;
  std::vector<Refusal> refusals_;
  std::vector<Candidate> candidates_;
  std::vector<std::string> not_built_;
  std::vector<schema::CapabilityProbed> probes_;
  std::optional<Chosen> chosen_;
};

}  // namespace

std::vector<std::string> known_backends(const std::vector<Backend*>& backends) {
  std::vector<std::string> ids;
  for (const Stop& stop : walk_of(backends)) {
    ids.push_back(stop.id);
  }
  return ids;
}

PlanningOutcome select_and_negotiate(const SelectionInput& input) {
  return Selection(input).run();
}

}  // namespace aasm::planner
