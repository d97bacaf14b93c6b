#pragma once

#include <pthread.h>
#include <sys/types.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "aasm/process/fd.h"
#include "aasm/schema/plan_vocabulary.h"
#include "aasm/schema/record_witness.h"
#include "aasm/schema/result.h"

#include "audit_switch.h"
#include "witness_tally.h"

namespace aasm::backend_native {

// Listens to what the kernel's audit tells of one launch's Landlock domains (decision 0030). What
// stands in its way becomes the reason in its report; it ends no launch. Session's thread, but for
// its own.
class AuditWitness {
 public:
  // Before the launch child restricts itself, or its first denials are not heard.
  static std::unique_ptr<AuditWitness> open(schema::WitnessWish wish, std::int64_t landlock_abi);

  AuditWitness(const AuditWitness&) = delete;
  AuditWitness& operator=(const AuditWitness&) = delete;
  ~AuditWitness();

  // Who makes the domains: starts the thread.
  void follow(pid_t launch_child);

  // Right before the program is let go. Waits, at most 250 ms, for one of the refusals that the
  // canaries met: without one nothing is known to be heard at all. Then, for a tick, so that the
  // clock tells what came before from what comes after.
  void mark_start();

  // After the tree has ended. Waits at most a second for the kernel to tell so.
  schema::WitnessReported finish();

 private:
  explicit AuditWitness(schema::WitnessWish wish) : wish_(wish) {}

  schema::Result<void> connect(std::int64_t landlock_abi);
  static void* run(void* self);
  void listen();
  void stop();
  schema::WitnessReported unavailable() const;

  const schema::WitnessWish wish_;
  std::optional<AuditSwitch> switch_;
  std::optional<AuditLink> link_;
  process::Fd stop_;  // eventfd
  std::string reason_;
  std::optional<pthread_t> thread_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<WitnessTally> tally_;
};

}  // namespace aasm::backend_native
