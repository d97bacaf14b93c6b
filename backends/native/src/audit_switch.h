#pragma once

#include "aasm/process/fd.h"
#include "aasm/schema/plan_vocabulary.h"
#include "aasm/schema/result.h"

#include "audit_link.h"

namespace aasm::backend_native {

// Keeps the host's audit on for the runs that listen to it. Whoever finds it off, and may, switches
// it on and notes so in a file that all such runs hold a lock on; the last of them switches it off
// again, unless an audit daemon has come. A supervisor that was killed leaves it on for the next
// run that listens to switch off. Destroying it does what close() does.
class AuditSwitch {
 public:
  // The file, of root's alone: content is the boot in which it was switched on.
  static constexpr const char* kFile = "/run/aasm-audit";

  // Error: the host's audit is off and stays so, or cannot be asked.
  static schema::Result<AuditSwitch> open(schema::WitnessWish wish);

  AuditSwitch(AuditSwitch&&) = default;
  AuditSwitch& operator=(AuditSwitch&&) = delete;
  AuditSwitch(const AuditSwitch&) = delete;
  AuditSwitch& operator=(const AuditSwitch&) = delete;
  ~AuditSwitch() { close(); }

  // Of the status before; `lost` is what to compare with.
  const AuditStatus& before() const { return before_; }
  bool switched_on() const { return switched_on_; }

  void close();

 private:
  AuditSwitch(process::Fd file, AuditStatus before) : file_(std::move(file)), before_(before) {}

  schema::Result<void> switch_on();

  process::Fd file_;  // none where nobody switched it on
  AuditStatus before_;
  bool switched_on_ = false;
};

}  // namespace aasm::backend_native
