#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "aasm/schema/activity_vocabulary.h"
#include "aasm/schema/digest.h"
#include "aasm/schema/fields.h"
#include "aasm/schema/path_bytes.h"
#include "aasm/schema/vocabulary.h"

// Bodies of `run.opened`, `process.started`, `process.exited`, `run.closed`, `run.recovered`
// (docs/spec/product.md section 3).
namespace aasm::schema {

// What identifies the agent. Asserted by the operator, not verified.
struct AgentIdentity {
  std::string agent_id;
  std::optional<std::string> team_id;
  std::optional<std::string> root_agent;
  std::optional<std::string> governance_level;
  std::vector<std::string> lineage;  // outermost first; empty for a root launch

  template <class V, class S>
  static void describe(V& v, S& self) {
    v.field("agent_id", self.agent_id);
    v.field("team_id", self.team_id);
    v.field("root_agent", self.root_agent);
    v.field("governance_level", self.governance_level);
    v.field("lineage", self.lineage);
  }
};

// Facts of host and launcher under which a probe result may be used again
// (docs/spec/product.md section 4). Two probes are comparable only when these are equal.
struct HostConditions {
  std::string boot_id;
  std::string kernel_release;
  std::string machine;  // x86_64, aarch64
  std::int64_t uid = 0;
  std::int64_t gid = 0;
  std::string cap_effective;  // hex masks as in /proc/self/status
  std::string cap_permitted;
  std::string cap_bounding;
  std::string user_ns;  // "user:[4026531837]"
  std::string pid_ns;
  std::string mnt_ns;
  std::string net_ns;
  std::int64_t seccomp_mode = 0;
  bool no_new_privs = false;
  std::string cgroup;
  Sha256 aasm_digest;    // the running aasm binary
  Sha256 helper_digest;  // the launch helper

  template <class V, class S>
  static void describe(V& v, S& self) {
    v.field("boot_id", self.boot_id);
    v.field("kernel_release", self.kernel_release);
    v.field("machine", self.machine);
    v.field("uid", self.uid);
    v.field("gid", self.gid);
    v.field("cap_effective", self.cap_effective);
    v.field("cap_permitted", self.cap_permitted);
    v.field("cap_bounding", self.cap_bounding);
    v.field("user_ns", self.user_ns);
    v.field("pid_ns", self.pid_ns);
    v.field("mnt_ns", self.mnt_ns);
    v.field("net_ns", self.net_ns);
    v.field("seccomp_mode", self.seccomp_mode);
    v.field("no_new_privs", self.no_new_privs);
    v.field("cgroup", self.cgroup);
    v.field("aasm_digest", self.aasm_digest);
    v.field("helper_digest", self.helper_digest);
  }
  bool operator==(const HostConditions&) const = default;
};

struct RunOpened {
  AgentIdentity identity;
  std::string session_id;
  std::string trace_id;
  PathBytes program;  // as given on the command line
  std::int64_t arg_count = 0;
  PathBytes working_dir;
  IsolationClass isolation = IsolationClass::kAuto;
  std::optional<std::string> backend_pin;
  std::string enforcement_mode = "enforce";
  std::string aasm_version;
  std::string claims_rules = "claims/1";
  HostConditions host;
  // Filled by the evidence sink: this record is the run key's certificate.
  PublicKey run_key;
  std::string key_storage = "memory_only";
  std::optional<std::string> checkpoint;  // newest checkpoint note of this ledger

  template <class V, class S>
  static void describe(V& v, S& self) {
    v.field("identity", self.identity);
    v.field("session_id", self.session_id);
    v.field("trace_id", self.trace_id);
    v.field("program", self.program);
    v.field("arg_count", self.arg_count);
    v.field("working_dir", self.working_dir);
    v.field("isolation", self.isolation);
    v.field("backend_pin", self.backend_pin);
    v.field("enforcement_mode", self.enforcement_mode);
    v.field("aasm_version", self.aasm_version);
    v.field("claims_rules", self.claims_rules);
    v.field("host", self.host);
    v.field("run_key", self.run_key);
    v.field("key_storage", self.key_storage);
    v.field("checkpoint", self.checkpoint);
  }
  Result<void> check() const;
};

struct ProcessStarted {
  std::int64_t pid = 0;
  std::uint64_t start_time_ticks = 0;  // field 22 of /proc/PID/stat, clock ticks since boot
  ExeRead exe_read = ExeRead::kNotRead;
  std::string exe_not_read_reason;   // empty when read
  std::optional<Sha256> exe_digest;  // digest of what /proc/PID/exe named at the exec stop
  PathBytes exe;
  BoundBy bound = BoundBy::kPath;

  template <class V, class S>
  static void describe(V& v, S& self) {
    v.field("pid", self.pid);
    v.field("start_time_ticks", self.start_time_ticks);
    v.field("exe_read", self.exe_read);
    v.field("exe_not_read_reason", self.exe_not_read_reason);
    v.field("exe_digest", self.exe_digest);
    v.field("exe", self.exe);
    v.field("bound", self.bound);
  }
  Result<void> check() const;
};

struct ResourceUse {
  std::int64_t user_us = 0;
  std::int64_t system_us = 0;
  std::int64_t max_rss_kib = 0;
  std::int64_t wall_us = 0;

  template <class V, class S>
  static void describe(V& v, S& self) {
    v.field("user_us", self.user_us);
    v.field("system_us", self.system_us);
    v.field("max_rss_kib", self.max_rss_kib);
    v.field("wall_us", self.wall_us);
  }
};

struct ProcessExited {
  std::optional<std::int64_t> status;  // exit status, when it exited
  std::optional<std::int64_t> signal;  // signal number, when a signal ended it
  ExitCause cause = ExitCause::kExited;
  ResourceUse use;
  std::int64_t descendants_killed = 0;

  template <class V, class S>
  static void describe(V& v, S& self) {
    v.field("status", self.status);
    v.field("signal", self.signal);
    v.field("cause", self.cause);
    v.field("use", self.use);
    v.field("descendants_killed", self.descendants_killed);
  }
  Result<void> check() const;  // exactly one of status and signal
};

// What the decision channel of a run counted. `opened` before the start, `closed` after the exit.
struct ChannelTotals {
  bool present = false;
  bool opened = false;
  bool closed = false;
  std::int64_t events = 0;   // entries written in decision.batch and observation.batch records
  std::int64_t actions = 0;  // sum of their counts
  std::int64_t dropped = 0;
  std::optional<std::int64_t> nested_filter_event;  // number of the event that announced one

  template <class V, class S>
  static void describe(V& v, S& self) {
    v.field("present", self.present);
    v.field("opened", self.opened);
    v.field("closed", self.closed);
    v.field("events", self.events);
    v.field("actions", self.actions);
    v.field("dropped", self.dropped);
    v.field("nested_filter_event", self.nested_filter_event);
  }
  Result<void> check() const;
};

struct RunClosed {
  RunEnding ending = RunEnding::kFinished;
  std::string detail;  // step and message of a failure, or a notice, else empty
  std::optional<std::int64_t> os_errno;
  bool program_started = false;
  std::int64_t records = 0;  // records of this run before this one
  ChannelTotals channel;

  template <class V, class S>
  static void describe(V& v, S& self) {
    v.field("ending", self.ending);
    v.field("detail", self.detail);
    v.field("errno", self.os_errno);
    v.field("program_started", self.program_started);
    v.field("records", self.records);
    v.field("channel", self.channel);
  }
  Result<void> check() const;
};

struct RunRecovered {
  std::string last_kind;              // of the run's last record
  bool program_may_have_run = false;  // a record that permits the start stands

  template <class V, class S>
  static void describe(V& v, S& self) {
    v.field("last_kind", self.last_kind);
    v.field("program_may_have_run", self.program_may_have_run);
  }
};

}  // namespace aasm::schema
