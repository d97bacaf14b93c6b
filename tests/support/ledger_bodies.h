#pragma once

#include <string>
#include <utility>

#include "aasm/schema/record.h"

// Small record bodies that pass their own checks.
namespace aasm::test {

inline schema::RunOpened opened_body(const std::string& program = "/bin/true") {
  schema::RunOpened body;
  body.identity.agent_id = "agent";
  body.program = schema::PathBytes(program);
  body.arg_count = 1;
  body.working_dir = schema::PathBytes("/");
  body.aasm_version = "0.0.0";
  body.host.boot_id = "b0";
  return body;
}

inline schema::ProcessStarted started_body(std::int64_t pid = 7) {
  schema::ProcessStarted body;
  body.pid = pid;
  body.exe_not_read_reason = "test";
  return body;
}

inline schema::ProcessExited exited_body(std::int64_t status = 0) {
  schema::ProcessExited body;
  body.status = status;
  return body;
}

// An observation batch: a run may hold any number of them.
inline schema::ObservationBatch batch_body(std::int64_t first = 1) {
  schema::ObservationBatch body;
  body.first = first;
  return body;
}

inline schema::RunClosed closed_body() {
  schema::RunClosed body;
  body.ending = schema::RunEnding::kRefused;
  body.records = 1;
  return body;
}

inline schema::CapabilityProbed probed_body(const std::string& backend,
                                            const schema::HostConditions& conditions) {
  schema::CapabilityProbed body;
  body.backend.id = backend;
  body.conditions = conditions;
  body.available = true;
  schema::DomainCapability domain;
  domain.domain = schema::Domain::kSyscall;
  domain.support = schema::Support::kUnsupported;
  domain.reason = "test";
  body.domains.push_back(std::move(domain));
  return body;
}

}  // namespace aasm::test
