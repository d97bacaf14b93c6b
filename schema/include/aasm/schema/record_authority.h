#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "aasm/schema/authority_vocabulary.h"
#include "aasm/schema/fields.h"

// The part of `plan.resolved` and `plan.refused` that lists what the launcher itself held when it
// was started (docs/spec/product.md section 4). Names and numbers; never a value, never content.
namespace aasm::schema {

// A variable whose name looks like a credential.
struct SensitiveName {
  std::string name;  // escaped when it is not UTF-8; cut when it is long
  SensitiveKind kind = SensitiveKind::kServiceToken;
  AuthorityFate fate = AuthorityFate::kAmbientUnremoved;

  template <class V, class S>
  static void describe(V& v, S& self) {
    v.field("name", self.name);
    v.field("kind", self.kind);
    v.field("fate", self.fate);
  }
  bool operator==(const SensitiveName&) const = default;
};

// A descriptor that was open when aasm was started.
struct InheritedDescriptor {
  std::int64_t number = 0;
  DescriptorKind kind = DescriptorKind::kFile;
  bool writable = false;
  AuthorityFate fate = AuthorityFate::kRemoved;

  template <class V, class S>
  static void describe(V& v, S& self) {
    v.field("number", self.number);
    v.field("kind", self.kind);
    v.field("writable", self.writable);
    v.field("fate", self.fate);
  }
  bool operator==(const InheritedDescriptor&) const = default;
};

struct AmbientAuthority {
  std::int64_t removed = 0;              // names of the environment that do not reach the program
  std::int64_t delegated = 0;            // names passed on because policy names them
  std::int64_t ambient_unremoved = 0;    // names passed on although no policy names them
  std::vector<SensitiveName> sensitive;  // sorted by name
  std::int64_t sensitive_unlisted = 0;   // further ones, for want of room in a record
  bool descriptors_listed = false;       // false: what was open is not known
  std::vector<InheritedDescriptor> descriptors;  // ascending
  std::int64_t descriptors_unlisted = 0;         // further ones, for want of room in a record

  template <class V, class S>
  static void describe(V& v, S& self) {
    v.field("removed", self.removed);
    v.field("delegated", self.delegated);
    v.field("ambient_unremoved", self.ambient_unremoved);
    v.field("sensitive", self.sensitive);
    v.field("sensitive_unlisted", self.sensitive_unlisted);
    v.field("descriptors_listed", self.descriptors_listed);
    v.field("descriptors", self.descriptors);
    v.field("descriptors_unlisted", self.descriptors_unlisted);
  }
  Result<void> check() const;
  bool operator==(const AmbientAuthority&) const = default;
};

}  // namespace aasm::schema
