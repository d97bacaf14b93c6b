#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "aasm/schema/activity_vocabulary.h"
#include "aasm/schema/digest.h"
#include "aasm/schema/fields.h"
#include "aasm/schema/path_bytes.h"
#include "aasm/schema/record_plan.h"
#include "aasm/schema/vocabulary.h"

// Bodies of `control.prepared` and `boundary.proved` (docs/spec/product.md section 3).
namespace aasm::schema {

// One granted path as installed: what was opened, not what was asked.
struct PathGrant {
  std::string rule;
  PathBytes requested;
  PathBytes resolved;  // symlink-free
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::string access;    // hex of the Landlock access bits
  bool skipped = false;  // the path does not exist; nothing was granted
  std::string note;

  template <class V, class S>
  static void describe(V& v, S& self) {
    v.field("rule", self.rule);
    v.field("requested", self.requested);
    v.field("resolved", self.resolved);
    v.field("device", self.device);
    v.field("inode", self.inode);
    v.field("access", self.access);
    v.field("skipped", self.skipped);
    v.field("note", self.note);
  }
};

struct LandlockDetail {
  std::int64_t abi = 0;
  std::string handled_fs;  // hex
  std::string scoped;      // hex
  std::vector<PathGrant> grants;

  template <class V, class S>
  static void describe(V& v, S& self) {
    v.field("abi", self.abi);
    v.field("handled_fs", self.handled_fs);
    v.field("scoped", self.scoped);
    v.field("grants", self.grants);
  }
};

struct SeccompDetail {
  Sha256 program;  // of the installed BPF instructions, 8 bytes each, little endian
  std::int64_t instructions = 0;
  std::string default_action;        // allow or notify
  std::vector<std::string> allowed;  // names; empty when the default is allow
  std::vector<std::string> denied;  // names denied by argument-free rules when the default is allow

  template <class V, class S>
  static void describe(V& v, S& self) {
    v.field("program", self.program);
    v.field("instructions", self.instructions);
    v.field("default_action", self.default_action);
    v.field("allowed", self.allowed);
    v.field("denied", self.denied);
  }
};

// One control, as the launch helper reported it. `id` is stable within the run and cited nowhere
// else; `rules` are the rule ids whose denials this control makes.
struct Control {
  // landlock, seccomp, environment, descriptors, capabilities, no_new_privs, ...; environment.2 and
  // so on when there are too many names for one
  std::string id;
  Domain domain = Domain::kFilesystemRead;
  Purpose purpose = Purpose::kPolicy;
  std::string mechanism;
  std::vector<std::string> rules;
  std::string step;  // helper step that installed it
  bool installed = false;
  std::int64_t os_errno = 0;  // of the step, when not installed
  std::optional<LandlockDetail> landlock;
  std::optional<SeccompDetail> seccomp;
  std::vector<std::string> names;    // environment: delegated names
  std::vector<std::string> removed;  // environment: names present here and not passed on
  // environment: names that look like credentials and are passed on although no policy names them
  std::vector<std::string> ambient_unremoved;
  std::vector<std::int64_t> descriptors;  // descriptors: passed numbers
  std::string note;

  template <class V, class S>
  static void describe(V& v, S& self) {
    v.field("id", self.id);
    v.field("domain", self.domain);
    v.field("purpose", self.purpose);
    v.field("mechanism", self.mechanism);
    v.field("rules", self.rules);
    v.field("step", self.step);
    v.field("installed", self.installed);
    v.field("errno", self.os_errno);
    v.field("landlock", self.landlock);
    v.field("seccomp", self.seccomp);
    v.field("names", self.names);
    v.field("removed", self.removed);
    v.field("ambient_unremoved", self.ambient_unremoved);
    v.field("descriptors", self.descriptors);
    v.field("note", self.note);
  }
};

// A file that takes part in starting the program, hashed before the start.
struct PreparedImage {
  ImageRole role = ImageRole::kBinary;
  PathBytes path;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t size = 0;
  Sha256 digest;
  // taken from an earlier hash of the same device, inode, size, mtime, ctime
  bool digest_cached = false;

  template <class V, class S>
  static void describe(V& v, S& self) {
    v.field("role", self.role);
    v.field("path", self.path);
    v.field("device", self.device);
    v.field("inode", self.inode);
    v.field("size", self.size);
    v.field("digest", self.digest);
    v.field("digest_cached", self.digest_cached);
  }
};

struct ControlPrepared {
  std::string backend;
  std::vector<Control> controls;
  std::vector<PreparedImage> images;
  BoundBy bound = BoundBy::kPath;
  std::string failed_step;  // empty when every step succeeded
  // 1-based; long lists go on in further records (ledger-format.md section 3)
  std::int64_t part = 1;
  std::int64_t parts = 1;

  template <class V, class S>
  static void describe(V& v, S& self) {
    v.field("backend", self.backend);
    v.field("controls", self.controls);
    v.field("images", self.images);
    v.field("bound", self.bound);
    v.field("failed_step", self.failed_step);
    v.field("part", self.part);
    v.field("parts", self.parts);
  }
  Result<void> check() const;
};

// One harmless forbidden action, tried in the confined context before the program starts.
struct Canary {
  std::string id;  // filesystem_read.open, syscall.kcmp, descriptors.closed, ...
  Domain domain = Domain::kFilesystemRead;
  Purpose purpose = Purpose::kPolicy;
  std::string step;  // the set-up step this canary watches: landlock, seccomp, descriptors, ...
  std::string action;
  Attempt control;  // before the boundary
  Attempt inside;   // after it
  ChannelReport channel = ChannelReport::kNotApplicable;

  template <class V, class S>
  static void describe(V& v, S& self) {
    v.field("id", self.id);
    v.field("domain", self.domain);
    v.field("purpose", self.purpose);
    v.field("step", self.step);
    v.field("action", self.action);
    v.field("control", self.control);
    v.field("inside", self.inside);
    v.field("channel", self.channel);
  }
  // The boundary was watched at work: the control succeeded and the same action was refused.
  bool proves() const {
    return control.outcome == AttemptOutcome::kSucceeded &&
           inside.outcome == AttemptOutcome::kRefused;
  }
};

struct NoCanary {
  Domain domain = Domain::kFilesystemRead;
  std::string reason;

  template <class V, class S>
  static void describe(V& v, S& self) {
    v.field("domain", self.domain);
    v.field("reason", self.reason);
  }
};

struct BoundaryProved {
  std::vector<Canary> canaries;
  std::vector<NoCanary> no_canary;
  std::int64_t part = 1;
  std::int64_t parts = 1;

  template <class V, class S>
  static void describe(V& v, S& self) {
    v.field("canaries", self.canaries);
    v.field("no_canary", self.no_canary);
    v.field("part", self.part);
    v.field("parts", self.parts);
  }
  Result<void> check() const;
};

}  // namespace aasm::schema
