#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aasm/schema/record_activity.h"
#include "aasm/schema/record_witness.h"

// The second witness of a run, docs/spec/product.md section 5.3: what the kernel's audit told,
// beside the claims and never a reason for one.
namespace aasm::claims {

class RunFacts;

// The files that refused actions of a run were about, for comparison with what the witness heard.
class DeniedFiles {
 public:
  // At most this many bytes of paths and inodes are kept.
  static constexpr std::size_t kMaxBytes = std::size_t{4} << 20U;

  void add(const schema::Event& event);
  // The file itself, the directory of a name that was refused, or the same inode.
  bool explain(const schema::WitnessedDenial& denial) const;
  // Whether what explain() does not find is not among them.
  bool are_all() const { return !full_ && !unlisted_; }

 private:
  void add_path(const std::string& path);
  bool take(std::size_t bytes);

  std::set<std::string> paths_;
  std::set<std::uint64_t> inodes_;
  std::size_t bytes_ = 0;
  bool full_ = false;
  bool unlisted_ = false;  // of some files it is not recorded which they were
};

enum class WitnessStanding : std::uint8_t {
  kNotReported,  // policy asks for it, and no record that counts says what became of it
  kUnavailable,
  kHeard,
};

// Whether what was heard is all that the kernel counted.
enum class WitnessAccount : std::uint8_t {
  kAgrees,
  kMissing,  // the kernel counted more
  kUnknown,
};

struct WitnessView {
  WitnessStanding standing = WitnessStanding::kNotReported;
  std::string reason;
  std::int64_t heard = 0;
  WitnessAccount account = WitnessAccount::kUnknown;
  std::int64_t missing = 0;
  bool compared = false;  // some denial was one that a decision has to explain
  std::vector<schema::WitnessedDenial> denials;  // as recorded
  std::vector<schema::WitnessedDenial> unexplained;

  template <class V, class S>
  static void describe(V& v, S& self) {
    v.field("standing", self.standing);
    v.field("reason", self.reason);
    v.field("heard", self.heard);
    v.field("account", self.account);
    v.field("missing", self.missing);
    v.field("compared", self.compared);
    v.field("denials", self.denials);
    v.field("unexplained", self.unexplained);
  }
};

// nullopt for a run that neither asked for a witness nor has a report of one.
std::optional<WitnessView> view_witness(const RunFacts& facts);

}  // namespace aasm::claims

template <>
struct aasm::schema::EnumNames<aasm::claims::WitnessStanding> {
  using E = aasm::claims::WitnessStanding;
  static constexpr std::string_view kWhat = "witness standing";
  static constexpr std::array<std::pair<E, std::string_view>, 3> kTokens = {{
      {E::kNotReported, "not_reported"},
      {E::kUnavailable, "unavailable"},
      {E::kHeard, "heard"},
  }};
};

template <>
struct aasm::schema::EnumNames<aasm::claims::WitnessAccount> {
  using E = aasm::claims::WitnessAccount;
  static constexpr std::string_view kWhat = "witness account";
  static constexpr std::array<std::pair<E, std::string_view>, 3> kTokens = {{
      {E::kAgrees, "agrees"},
      {E::kMissing, "missing"},
      {E::kUnknown, "unknown"},
  }};
};
