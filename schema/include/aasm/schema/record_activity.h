#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "aasm/schema/activity_vocabulary.h"
#include "aasm/schema/fields.h"
#include "aasm/schema/path_bytes.h"
#include "aasm/schema/vocabulary.h"

// Bodies of `decision.batch` and `observation.batch` (docs/spec/product.md section 3;
// docs/spec/ledger-format.md rule 4.7).
namespace aasm::schema {

// What a decision is about. syscall: `name` ("ptrace" or "syscall_4095"), `number` and `arch`.
// path: `path`, symlink-free as the kernel names it, and of what is there device and inode.
// address: what was reached or bound, after parsing; `name` is the host name for which it had been
// given out, where it is by that name that it may be reached. socket: `name`, the path of a unix
// socket or the numbers a socket was asked for with. unlisted: nothing; the event counts actions on
// objects of any number, of which a run had recorded as many as it keeps apart. Others: `name`; of
// a lookup also what was asked for and given.
struct EventObject {
  ObjectType type = ObjectType::kNone;
  std::string name;
  std::optional<std::int64_t> number;
  std::string arch;  // x86_64, x32, i386, aarch64; empty when it does not apply
  std::optional<PathBytes> path;
  std::optional<PathBytes> given_path;  // as the caller wrote it, where that is not `path`
  std::optional<PathBytes> new_path;    // rename, link: where to, symlink-free
  std::optional<std::uint64_t> device;
  std::optional<std::uint64_t> inode;
  std::optional<std::string> address;   // "10.0.0.1", "fe80::1" (RFC 5952); no brackets, no zone
  std::optional<std::int64_t> port;     // 0 to 65535
  std::optional<std::string> protocol;  // tcp, udp
  std::optional<AddressClass> address_class;
  std::optional<std::string> query;                 // of a name: A, AAAA, or the number of the type
  std::optional<std::vector<std::string>> answers;  // the addresses given, as `address` is written

  template <class V, class S>
  static void describe(V& v, S& self) {
    v.field("type", self.type);
    v.field("name", self.name);
    v.field("number", self.number);
    v.field("arch", self.arch);
    v.field("path", self.path);
    v.field("given_path", self.given_path);
    v.field("new_path", self.new_path);
    v.field("device", self.device);
    v.field("inode", self.inode);
    v.field("address", self.address);
    v.field("port", self.port);
    v.field("protocol", self.protocol);
    v.field("address_class", self.address_class);
    v.field("query", self.query);
    v.field("answers", self.answers);
  }
  Result<void> check() const;
  bool operator==(const EventObject&) const = default;
};

// One decision, or several identical ones. Identity for coalescing: everything but number, pid,
// tid, parents,
// parents_truncated, count and pids; nor is the executable part of it where the object is unlisted:
// like the pid it is that of the first caller then.
struct Event {
  std::int64_t number = 0;  // contiguous from 1 within a run, over both batch kinds
  Domain domain = Domain::kSyscall;
  std::string operation;  // the policy's word: "call", "connect" (sending to an address, too),
                          // "bind" (listening, too), "resolve"; "socket"; on files "read", "write",
                          // "execute", "create", "remove", "rename", "link"
  EventObject object;
  DecisionOutcome outcome = DecisionOutcome::kDenied;
  std::int64_t os_errno = 0;
  DecisionCause cause = DecisionCause::kPolicy;
  std::string rule;  // rule id, or "self_protection.<name>", or "compat.<name>"
  ReplyState reply = ReplyState::kAccepted;
  Timing timing = Timing::kPre;
  Synchrony synchrony = Synchrony::kSync;
  std::string mechanism;  // "seccomp_user_notification"
  std::int64_t pid = 0;   // thread group id of the first caller; 0: gone, not known
  std::int64_t tid = 0;
  std::vector<std::int64_t> parents;  // nearest first, up to the launch helper
  // true: `parents` was cut at its largest length and does not reach the launch helper
  std::optional<bool> parents_truncated;
  PathBytes executable;
  std::int64_t count = 1;
  std::int64_t pids = 1;       // distinct thread group ids among `count`
  bool nested_filter = false;  // the caller installed a filter of its own: see ChannelTotals

  template <class V, class S>
  static void describe(V& v, S& self) {
    v.field("number", self.number);
    v.field("domain", self.domain);
    v.field("operation", self.operation);
    v.field("object", self.object);
    v.field("outcome", self.outcome);
    v.field("errno", self.os_errno);
    v.field("cause", self.cause);
    v.field("rule", self.rule);
    v.field("reply", self.reply);
    v.field("timing", self.timing);
    v.field("synchrony", self.synchrony);
    v.field("mechanism", self.mechanism);
    v.field("pid", self.pid);
    v.field("tid", self.tid);
    v.field("parents", self.parents);
    v.field("parents_truncated", self.parents_truncated);
    v.field("executable", self.executable);
    v.field("count", self.count);
    v.field("pids", self.pids);
    v.field("nested_filter", self.nested_filter);
  }
  Result<void> check() const;
};

inline constexpr std::size_t kBatchMaxEvents = 512;

struct EventBatch {
  std::int64_t first = 1;  // number of the first event
  std::vector<Event> events;
  std::int64_t dropped = 0;  // events lost since the batch before

  template <class V, class S>
  static void describe(V& v, S& self) {
    v.field("first", self.first);
    v.field("events", self.events);
    v.field("dropped", self.dropped);
  }
  Result<void> check() const;  // contiguous numbers from `first`, at most kBatchMaxEvents
};

struct DecisionBatch : EventBatch {};
struct ObservationBatch : EventBatch {};

}  // namespace aasm::schema
