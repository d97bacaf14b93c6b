#pragma once

#include <memory>
#include <set>

#include "aasm/planner/backend.h"

#include "audit_witness.h"
#include "channel.h"
#include "helper_client.h"
#include "launch_material.h"

namespace aasm::backend_native {

// The launch helper with its boundary installed and its canaries run, waiting for the word to
// execute the program; or the remains of one that failed on the way there. Destroying it kills the
// helper, its child and all below. Session's thread only.
class NativePrepared final : public planner::PreparedExecution {
 public:
  // Starts the helper and takes it to its second rendezvous. An Error means that no process exists.
  static schema::Result<std::unique_ptr<planner::PreparedExecution>> create(
      LaunchMaterial material);

  const planner::PreparationReport& report() const override { return report_; }
  schema::Result<planner::StartOutcome> start(planner::ActivityEmitter emit) override;

 private:
  NativePrepared(LaunchMaterial material, HelperClient helper,
                 std::unique_ptr<AuditWitness> witness);

  schema::Result<void> open_channel(process::Fd listener);
  void describe_control();
  void hand_out_control();
  void await_canaries();
  void await_helpers_end();
  void fail_from(const schema::Error& error);
  void judge(const std::set<std::uint32_t>& reported);
  std::vector<schema::ControlPrepared> control_report(const HelperResults& results);
  void write_report();

  schema::Result<schema::ProcessStarted> watch_exec(process::BorrowedFd report_pipe,
                                                    const schema::Result<void>& seized);
  schema::Result<schema::ProcessStarted> read_at_exec_stop();
  schema::Result<schema::ProcessStarted> await_exec_unwatched(process::BorrowedFd report_pipe,
                                                              std::string reason);
  planner::LaunchFailure exec_failure(const schema::Error& error) const;

  LaunchMaterial material_;
  std::unique_ptr<Channel> channel_;  // outlives the helper: its tree is killed while answered
  std::optional<HelperClient> helper_;
  std::unique_ptr<AuditWitness> witness_;  // where policy asks for one
  process::Fd report_pipe_;                // a second read end; the channel has the first
  planner::PreparationReport report_;
  bool has_handed_out_control_ = false;
  std::vector<schema::ControlPrepared> control_;  // until it is reported
  std::optional<schema::BoundaryProved> proved_;
};

}  // namespace aasm::backend_native
