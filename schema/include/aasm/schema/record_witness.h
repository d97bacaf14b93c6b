#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "aasm/schema/activity_vocabulary.h"
#include "aasm/schema/fields.h"
#include "aasm/schema/path_bytes.h"
#include "aasm/schema/plan_vocabulary.h"

// Body of `witness.reported`: what the kernel's audit told of the run's Landlock domains
// (docs/decisions/0030). It corroborates; no claim is made of it.
namespace aasm::schema {

// One denial as the kernel tells it, or several identical ones. Of an action that makes, removes or
// moves a name the kernel tells the directory, not the name.
struct WitnessedDenial {
  std::string blockers;  // the rights that were missing: "fs.read_file", "fs.make_reg,fs.refer"
  std::optional<PathBytes> path;
  std::string device;  // of the file's file system, by the kernel's name: "vda"
  std::optional<std::uint64_t> inode;
  std::string detail;  // of what is no file: "daddr=127.0.0.1 dest=80"
  std::int64_t count = 1;

  template <class V, class S>
  static void describe(V& v, S& self) {
    v.field("blockers", self.blockers);
    v.field("path", self.path);
    v.field("device", self.device);
    v.field("inode", self.inode);
    v.field("detail", self.detail);
    v.field("count", self.count);
  }
  Result<void> check() const;
};

struct WitnessReported {
  WitnessWish wish = WitnessWish::kListen;
  WitnessState state = WitnessState::kUnavailable;
  std::string reason;                // unavailable: why
  bool enabled_by_aasm = false;      // the host's audit was off and was switched on for the run
  bool enabled_at_end = false;       // it was on when the run's domains had ended
  std::vector<std::string> domains;  // the kernel's numbers of the run's Landlock domains, hex
  std::int64_t before_start = 0;     // denials told that were made before the program was started
  std::int64_t heard = 0;            // and after
  // What the kernel counted of all denials of these domains, told when they ended; absent unless it
  // was told of each of them.
  std::optional<std::int64_t> counted;
  std::int64_t lost = 0;      // audit records of the whole host that its kernel lost meanwhile
  std::int64_t overruns = 0;  // times that more came than was read
  std::vector<WitnessedDenial> denials;  // of those heard after the start, in order of arrival
  std::int64_t unlisted = 0;             // of those heard, the ones for which there was no room

  template <class V, class S>
  static void describe(V& v, S& self) {
    v.field("wish", self.wish);
    v.field("state", self.state);
    v.field("reason", self.reason);
    v.field("enabled_by_aasm", self.enabled_by_aasm);
    v.field("enabled_at_end", self.enabled_at_end);
    v.field("domains", self.domains);
    v.field("before_start", self.before_start);
    v.field("heard", self.heard);
    v.field("counted", self.counted);
    v.field("lost", self.lost);
    v.field("overruns", self.overruns);
    v.field("denials", self.denials);
    v.field("unlisted", self.unlisted);
  }
  Result<void> check() const;
};

}  // namespace aasm::schema
