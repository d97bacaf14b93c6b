#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aasm/claims/conjunct.h"
#include "aasm/claims/contradictions.h"
#include "aasm/claims/denials.h"
#include "aasm/claims/name_answers.h"
#include "aasm/claims/witness.h"
#include "aasm/schema/policy_parts.h"
#include "aasm/schema/record.h"

namespace aasm::claims {

inline constexpr std::size_t kNumDomains = 9;
inline constexpr std::size_t kNumOutcomes = 3;
inline constexpr std::size_t kNumCauses = 5;

// Where a record stood and whether it can be evidence: written in the boot of run.opened, signed by
// the key that section 5 of docs/spec/ledger-format.md names for its kind.
struct RecordMark {
  std::int64_t seq = 0;
  bool same_boot = false;
  bool signer_ok = false;

  bool trustworthy() const { return same_boot && signer_ok; }
};

template <class T>
struct Held {
  RecordMark mark;
  T body;
};

// A probe of one backend as this run recorded it, and the earlier record it refers to, if any.
struct HeldProbe {
  RecordMark mark;
  schema::CapabilityProbed body;
  std::optional<schema::LeafHash> referenced_leaf;
  std::optional<schema::CapabilityProbed> referenced;
};

// What happened on one domain while the program ran, in actions (sums of Event.count). Only events
// of trustworthy records after process.started are counted, but for denied_uncounted, which holds
// every policy denial of a decision.batch that is not in `denied`.
struct DomainActivity {
  // decisions[outcome][cause], in the order of the vocabularies
  std::array<std::array<std::int64_t, kNumCauses>, kNumOutcomes> decisions{};
  std::int64_t observations = 0;
  std::int64_t unlisted = 0;   // decisions and observations whose objects are not recorded
  std::int64_t denied = 0;     // rule 2 accepts them
  std::int64_t evaluated = 0;  // rule 3 accepts them; those of rule 2 are not repeated
  std::map<std::string, std::int64_t> denied_by_rule;          // rule 2, by policy rule id
  std::array<std::int64_t, kNumConjuncts> denied_uncounted{};  // by the first conjunct that failed
  Denials denials;  // of the workload, by any cause but compat

  void note_object(const schema::Event& event);
  std::int64_t total_decisions() const;
  std::int64_t policy_denials() const;
};

// What the decision.batch and observation.batch records of the run add up to.
struct EventTotals {
  std::int64_t events = 0;
  std::int64_t actions = 0;
  std::int64_t dropped = 0;
  std::int64_t next_number = 1;
  bool contiguous = true;
  std::optional<std::int64_t> first_nested_filter;  // number of the first event that announced one
};

// Names of environment variables by what happened to them; never values.
struct CredentialNames {
  std::vector<std::string> removed;
  std::vector<std::string> delegated;
  std::vector<std::string> ambient_unremoved;

  template <class V, class S>
  static void describe(V& v, S& self) {
    v.field("removed", self.removed);
    v.field("delegated", self.delegated);
    v.field("ambient_unremoved", self.ambient_unremoved);
  }
};

// Everything the rules may read of one run: an append-only accumulator over its verified records,
// in ledger order. The same object serves `verify` (records of a ledger), the live report (the
// bodies as they were submitted) and a dry run (bodies without a ledger): the latter two pass
// increasing made-up `seq` values, one boot id and `signer_ok` true.
//
// Memory grows with policy, plan, controls and canaries, never with the number of batches: events
// are judged as they pass. That is sound because every record that a decision may lean on has to
// stand before it. Holds no descriptor, does no I/O. One thread at a time.
class RunFacts {
 public:
  // `seq` increases from call to call. `signer_ok`: the record's signature checks and its signer is
  // the one its kind demands; a record without that is never evidence, and is a contradiction.
  void add(std::int64_t seq, std::string_view boot, bool signer_ok, const schema::RecordBody& body);

  // The capability.probed record that one of this run's probes refers to. The caller finds it by
  // ProbeReference.seq and passes that record's own leaf. Any order with respect to add().
  void add_referenced_probe(std::int64_t seq, const schema::LeafHash& leaf,
                            const schema::CapabilityProbed& body);

  // Names known to the caller beside those that control.prepared holds (a dry run installs
  // nothing). Replaces earlier ones.
  void set_credentials(CredentialNames names) { credentials_ = std::move(names); }

  // The digest of the plan as the caller recomputed it. Without a call it is not compared.
  void set_recomputed_plan_digest(const schema::Sha256& digest) { plan_digest_ = digest; }

  const std::optional<Held<schema::RunOpened>>& opened() const { return opened_; }
  // The parts that stand before the start, joined. Its mark is that of the last of them, and
  // trustworthy when each is.
  const std::optional<Held<schema::PolicyResolved>>& policy() const { return policy_; }
  const std::optional<Held<schema::PlanResolved>>& plan() const { return plan_; }
  const std::optional<Held<schema::PlanRefused>>& refused() const { return refused_; }
  const std::optional<Held<schema::ProcessStarted>>& started() const { return started_; }
  const std::optional<Held<schema::ProcessExited>>& exited() const { return exited_; }
  const std::optional<Held<schema::RunClosed>>& closed() const { return closed_; }
  const std::optional<Held<schema::RunRecovered>>& recovered() const { return recovered_; }
  const std::optional<Held<schema::WitnessReported>>& witness() const { return witness_; }
  // Of the workload, where policy asks for a second witness.
  const DeniedFiles& denied_files() const { return denied_files_; }
  const std::vector<HeldProbe>& probes() const { return probes_; }
  // Without the detail of rule sets and filters, which no rule reads.
  const std::vector<Held<schema::Control>>& controls() const { return controls_; }
  const std::vector<Held<schema::Canary>>& canaries() const { return canaries_; }
  const std::vector<Held<schema::NoCanary>>& no_canaries() const { return no_canaries_; }
  const std::vector<schema::PreparedImage>& images() const { return images_; }
  bool parts_missing() const {
    return control_parts_.last != control_parts_.of || boundary_parts_.last != boundary_parts_.of ||
           (policy_ && !schema::has_all_parts(policy_->body));
  }
  bool control_recorded() const { return control_parts_.records > 0; }
  bool boundary_recorded() const { return boundary_parts_.records > 0; }
  const std::string& failed_step() const { return failed_step_; }
  const DomainActivity& activity(schema::Domain domain) const;
  const EventTotals& totals() const { return totals_; }
  // What the caller set, what the environment control says and what the plan's inventory says:
  // sorted, each name once a list.
  CredentialNames credentials() const;
  // What the launcher held, as the plan or its refusal lists it; nullptr where it is not recorded.
  const schema::AmbientAuthority* ambient() const;
  // A plan or a refusal without an inventory: written by a version that took none.
  bool precedes_inventory() const;
  // The numbers an installed descriptor control passes on; else, of a run without a boundary, those
  // of the inventory; nullopt without either.
  std::optional<std::vector<std::int64_t>> descriptors() const;
  const std::optional<schema::Sha256>& recomputed_plan_digest() const { return plan_digest_; }

  // Contradictions that showed while records passed; derive() adds the rest.
  const ContradictionLog& log() const { return log_; }
  // Allowed decisions whose object could not be compared with the rule they cite.
  std::int64_t undecided_coverage() const { return undecided_coverage_; }

  // The requirement on `domain`, the outcome the plan gives it, or nullptr.
  const schema::Requirement* requirement(schema::Domain domain) const;
  const schema::RequirementOutcome* outcome(schema::Domain domain) const;
  // What the selected backend measured, following a reference; nullptr when that is not known.
  const schema::CapabilityProbed* measured() const;
  // True for a record that stands before process.started, or when there is no such record.
  bool before_start(const RecordMark& mark) const;
  // True for a trustworthy record after a trustworthy process.started of a run whose run.opened
  // carries the right signature: what happened under it is the workload's.
  bool is_workload(const RecordMark& mark) const;

 private:
  struct Parts {
    std::int64_t records = 0;
    std::int64_t last = 0;
    std::int64_t of = 0;
  };
  struct EarlyReference {
    std::int64_t seq = 0;
    schema::LeafHash leaf;
    schema::CapabilityProbed body;
  };

  void on(const RecordMark& mark, const schema::LedgerCreated& body);
  void on(const RecordMark& mark, const schema::KeyRotated& body);
  void on(const RecordMark& mark, const schema::KeyReplaced& body);
  void on(const RecordMark& mark, const schema::KeyRevoked& body);
  void on(const RecordMark& mark, const schema::RunOpened& body);
  void on(const RecordMark& mark, const schema::PolicyResolved& body);
  void on(const RecordMark& mark, const schema::CapabilityProbed& body);
  void on(const RecordMark& mark, const schema::PlanResolved& body);
  void on(const RecordMark& mark, const schema::PlanRefused& body);
  void on(const RecordMark& mark, const schema::ControlPrepared& body);
  void on(const RecordMark& mark, const schema::BoundaryProved& body);
  void on(const RecordMark& mark, const schema::ProcessStarted& body);
  void on(const RecordMark& mark, const schema::DecisionBatch& body);
  void on(const RecordMark& mark, const schema::ObservationBatch& body);
  void on(const RecordMark& mark, const schema::WitnessReported& body);
  void on(const RecordMark& mark, const schema::ProcessExited& body);
  void on(const RecordMark& mark, const schema::RunClosed& body);
  void on(const RecordMark& mark, const schema::RunRecovered& body);

  template <class T>
  void keep_first(std::optional<Held<T>>& place, const RecordMark& mark, const T& body,
                  std::string_view kind);
  void note_order(const RecordMark& mark, ContradictionCode code, std::string_view kind);
  void join_policy(const RecordMark& mark, const schema::PolicyResolved& body);
  void count_part(Parts& parts, const RecordMark& mark, std::int64_t part, std::int64_t of,
                  ContradictionCode repeated);
  void count_batch(const RecordMark& mark, const schema::EventBatch& batch);
  void judge_decision(const RecordMark& mark, const schema::Event& event);
  void check_allowed(const RecordMark& mark, const schema::Event& event);
  void check_denied(const RecordMark& mark, const schema::Event& event);
  void check_counts(const RecordMark& mark);
  void keep_control(const RecordMark& mark, const schema::Control& control);
  void keep_canary(const RecordMark& mark, const schema::Canary& canary);

  std::string boot_;
  std::optional<Held<schema::RunOpened>> opened_;
  std::optional<Held<schema::PolicyResolved>> policy_;
  std::optional<Held<schema::PlanResolved>> plan_;
  std::optional<Held<schema::PlanRefused>> refused_;
  std::optional<Held<schema::ProcessStarted>> started_;
  std::optional<Held<schema::ProcessExited>> exited_;
  std::optional<Held<schema::RunClosed>> closed_;
  std::optional<Held<schema::RunRecovered>> recovered_;
  std::optional<Held<schema::WitnessReported>> witness_;
  DeniedFiles denied_files_;
  std::vector<HeldProbe> probes_;
  std::vector<EarlyReference> early_references_;
  std::vector<Held<schema::Control>> controls_;
  std::map<std::string, std::size_t> control_keys_;  // domain, purpose, id: the first in controls_
  std::vector<Held<schema::Canary>> canaries_;
  std::set<std::string> canary_keys_;  // domain, id
  std::vector<Held<schema::NoCanary>> no_canaries_;
  std::vector<schema::PreparedImage> images_;
  Parts control_parts_;
  Parts boundary_parts_;
  std::string failed_step_;
  std::array<DomainActivity, kNumDomains> activity_{};
  EventTotals totals_;
  CredentialNames credentials_;
  std::optional<schema::Sha256> plan_digest_;
  NameAnswers name_answers_;
  ContradictionLog log_;
  std::int64_t undecided_coverage_ = 0;
};

}  // namespace aasm::claims
