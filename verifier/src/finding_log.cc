#include "finding_log.h"

#include <algorithm>

#include "aasm/schema/utf8.h"

namespace aasm::verifier {
namespace {

// One code may not fill the list by itself.
constexpr std::size_t kMaxListedOfOneCode = 25;

std::size_t index_of(FindingCode code) {
  return static_cast<std::size_t>(code);
}

}  // namespace

std::string shown(std::string_view text) {
  // Escaping makes text longer, never shorter, so cutting first bounds the work.
  std::string escaped = schema::escape_for_display(text.substr(0, kMaxFindingTextBytes));
  if (escaped.size() <= kMaxFindingTextBytes && text.size() <= kMaxFindingTextBytes) {
    return escaped;
  }
  std::size_t end = std::min(escaped.size(), kMaxFindingTextBytes - 3);
  while (end > 0 && (static_cast<unsigned char>(escaped[end - 1]) & 0x80U) != 0) {
    --end;  // never inside a character of several bytes
  }
  escaped.resize(end);
  return escaped + "...";
}

void FindingLog::make_room() {
  const auto fullest = std::max_element(
      kept_.begin(), kept_.end(),
      [](const auto& left, const auto& right) { return left.size() < right.size(); });
  fullest->pop_back();
  --listed_;
}

void FindingLog::add(FindingCode code, std::int64_t seq, const FindingText& text) {
  std::vector<Finding>& kept = kept_[index_of(code)];
  ++counts_[index_of(code)];
  ++total_;
  if (kept.size() >= kMaxListedOfOneCode || (listed_ >= kMaxListedFindings && !kept.empty())) {
    return;
  }
  if (listed_ >= kMaxListedFindings) {
    make_room();
  }
  const FindingSpec& spec = spec_of(code);
  kept.push_back({std::string(spec.token), spec.weight, seq, shown(text.expected),
                  shown(text.actual), shown(text.detail)});
  ++listed_;
}

std::vector<FindingLog::Group> FindingLog::groups() const {
  std::vector<Group> groups;
  for (std::size_t i = 0; i < kNumFindingCodes; ++i) {
    if (counts_[i] > 0) {
      groups.push_back({kFindingSpecs[i].code, counts_[i], kept_[i]});
    }
  }
  std::stable_sort(groups.begin(), groups.end(), [](const Group& left, const Group& right) {
    return spec_of(left.code).weight < spec_of(right.code).weight;
  });
  return groups;
}

std::uint64_t FindingLog::count(FindingCode code) const {
  return counts_[index_of(code)];
}

}  // namespace aasm::verifier
