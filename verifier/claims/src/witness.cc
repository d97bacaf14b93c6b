#include "aasm/claims/witness.h"

#include <algorithm>

#include "aasm/claims/facts.h"

#include "text.h"

namespace aasm::claims {
namespace {

using schema::Domain;
using schema::EvidenceWish;
using schema::WitnessedDenial;

std::vector<std::string> rights_of(const std::string& blockers) {
  std::vector<std::string> rights;
  std::size_t begin = 0;
  while (begin <= blockers.size()) {
    const std::size_t end = std::min(blockers.find(',', begin), blockers.size());
    rights.push_back(blockers.substr(begin, end - begin));
    begin = end + 1;
  }
  return rights;
}

// Executions, where the kernel itself opens what a file names; what no call on a file asks for;
// names of sockets, which Landlock alone judges unless policy denies a place (decision 0029).
bool may_be_undecided(const std::string& right) {
  return right == "fs.execute" || right == "fs.ioctl_dev" || right == "fs.make_sock";
}

// The domain in which a decision was taken on such an action.
std::optional<Domain> decided_in(const WitnessedDenial& denial) {
  bool reads = true;
  for (const std::string& right : rights_of(denial.blockers)) {
    if (!right.starts_with("fs.") || may_be_undecided(right)) {
      return std::nullopt;
    }
    reads = reads && (right == "fs.read_file" || right == "fs.read_dir");
  }
  return reads ? Domain::kFilesystemRead : Domain::kFilesystemWrite;
}

// Whether every refusal in the domain was to be a decision of this run.
bool is_decided(const RunFacts& facts, Domain domain) {
  const schema::Requirement* requirement = facts.requirement(domain);
  const schema::RequirementOutcome* outcome = facts.outcome(domain);
  const EvidenceWish needed =
      domain == Domain::kFilesystemRead ? EvidenceWish::kDecisions : EvidenceWish::kWriteDecisions;
  return requirement != nullptr && requirement->evidence >= needed && outcome != nullptr &&
         outcome->kind == schema::OutcomeKind::kEnforced &&
         facts.opened()->body.enforcement_mode == "enforce";
}

void compare(const RunFacts& facts, WitnessView& view) {
  if (!facts.denied_files().are_all()) {
    return;
  }
  for (const WitnessedDenial& denial : view.denials) {
    const std::optional<Domain> domain = decided_in(denial);
    if (!domain || !is_decided(facts, *domain)) {
      continue;
    }
    view.compared = true;
    if (!facts.denied_files().explain(denial)) {
      view.unexplained.push_back(denial);
    }
  }
}

void settle_account(const schema::WitnessReported& told, WitnessView& view) {
  const std::int64_t heard = add_saturating(told.before_start, told.heard);
  if (!told.counted || *told.counted < heard) {
    return;
  }
  view.missing = *told.counted - heard;
  if (view.missing > 0) {
    view.account = WitnessAccount::kMissing;
  } else if (told.lost == 0 && told.overruns == 0 && told.enabled_at_end) {
    view.account = WitnessAccount::kAgrees;
  }
}

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos || slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

bool DeniedFiles::take(std::size_t bytes) {
  full_ = full_ || bytes_ + bytes > kMaxBytes;
  bytes_ += full_ ? 0 : bytes;
  return !full_;
}

void DeniedFiles::add_path(const std::string& path) {
  if (paths_.count(path) == 0 && take(path.size())) {
    paths_.insert(path);
  }
}

void DeniedFiles::add(const schema::Event& event) {
  const schema::EventObject& object = event.object;
  const bool of_files =
      event.domain == Domain::kFilesystemRead || event.domain == Domain::kFilesystemWrite;
  unlisted_ = unlisted_ || (of_files && object.type == schema::ObjectType::kUnlisted);
  for (const auto* path : {&object.path, &object.new_path}) {
    if (*path) {
      add_path((*path)->bytes());
      add_path(parent_of((*path)->bytes()));
    }
  }
  if (object.inode && inodes_.count(*object.inode) == 0 && take(sizeof *object.inode)) {
    inodes_.insert(*object.inode);
  }
}

bool DeniedFiles::explain(const WitnessedDenial& denial) const {
  return (denial.inode && inodes_.count(*denial.inode) != 0) ||
         (denial.path && paths_.count(denial.path->bytes()) != 0);
}

std::optional<WitnessView> view_witness(const RunFacts& facts) {
  const auto& told = facts.witness();
  const bool asked = facts.policy() && facts.policy()->body.witness && facts.started();
  if (!asked && !told) {
    return std::nullopt;
  }
  WitnessView view;
  if (!told || !facts.is_workload(told->mark)) {
    return view;
  }
  const schema::WitnessReported& body = told->body;
  view.reason = body.reason;
  view.heard = body.heard;
  view.denials = body.denials;
  if (body.state == schema::WitnessState::kUnavailable) {
    view.standing = WitnessStanding::kUnavailable;
    return view;
  }
  view.standing = WitnessStanding::kHeard;
  settle_account(body, view);
  compare(facts, view);
  return view;
}

}  // namespace aasm::claims
