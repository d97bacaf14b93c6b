#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "aasm/verifier/findings.h"
#include "aasm/verifier/verifier.h"

namespace aasm::verifier {

inline constexpr std::size_t kMaxListedFindings = 100;
inline constexpr std::size_t kMaxFindingTextBytes = 1024;

// Expected and actual value of a check, and a sentence beside them; any may be empty.
struct FindingText {
  std::string_view expected = {};
  std::string_view actual = {};
  std::string_view detail = {};
};

// What was found. Counts everything; lists at most kMaxListedFindings, of every code at least one.
// Texts are escaped and cut here, so callers pass what they have. One thread at a time.
class FindingLog {
 public:
  void add(FindingCode code, std::int64_t seq, const FindingText& text = {});

  struct Group {
    FindingCode code = FindingCode::kInternalError;
    std::uint64_t count = 0;
    std::vector<Finding> listed;  // in the order found
  };
  // Non-empty groups, those that fail first, else in the order of the codes.
  std::vector<Group> groups() const;

  std::uint64_t count(FindingCode code) const;
  std::uint64_t total() const { return total_; }
  std::size_t num_listed() const { return listed_; }

 private:
  void make_room();

  std::array<std::uint64_t, kNumFindingCodes> counts_{};
  std::array<std::vector<Finding>, kNumFindingCodes> kept_{};
  std::uint64_t total_ = 0;
  std::size_t listed_ = 0;
};

// `text` escaped for one line and cut to kMaxFindingTextBytes.
std::string shown(std::string_view text);

}  // namespace aasm::verifier
