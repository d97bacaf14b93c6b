#include "witness_tally.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace aasm::backend_native {
namespace {

using schema::WitnessedDenial;

// A run has two domains; more is not ours.
constexpr std::size_t kMaxDomains = 8;
// The kernel tells of a domain right behind its first denial; others' records may come between.
constexpr std::size_t kMaxUnclaimed = 64;
constexpr std::size_t kMaxListed = 64;
constexpr std::size_t kMaxListedBytes = std::size_t{16} << 10U;

std::string hex(std::uint64_t number) {
  char digits[16];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, number, 16);
  return {digits, end};
}

}  // namespace

void WitnessTally::add(const audit::Record& record) {
  if (const auto* denial = std::get_if<audit::Denial>(&record.said)) {
    take(record, *denial);
  } else if (const auto* made = std::get_if<audit::DomainMade>(&record.said)) {
    learn(*made);
  } else if (const auto* ended = std::get_if<audit::DomainEnded>(&record.said)) {
    const auto domain = domains_.find(ended->domain);
    if (domain != domains_.end()) {
      domain->second.counted = ended->denials;
    }
  }
}

void WitnessTally::take(const audit::Record& record, const audit::Denial& denial) {
  if (domains_.count(denial.domain) == 0) {
    unclaimed_.push_back(record);
    if (unclaimed_.size() > kMaxUnclaimed) {
      unclaimed_.pop_front();
    }
    return;
  }
  if (!started_ms_ || record.time_ms <= *started_ms_) {
    report_.before_start += 1;
    return;
  }
  report_.heard += 1;
  list(denial);
}

void WitnessTally::learn(const audit::DomainMade& made) {
  if (made.pid == launch_child_ && domains_.size() < kMaxDomains) {
    domains_.emplace(made.domain, Domain{});
  }
  const auto own =
      std::stable_partition(unclaimed_.begin(), unclaimed_.end(), [&](const audit::Record& one) {
        return std::get<audit::Denial>(one.said).domain != made.domain;
      });
  const std::deque<audit::Record> claimed(std::make_move_iterator(own),
                                          std::make_move_iterator(unclaimed_.end()));
  unclaimed_.erase(own, unclaimed_.end());
  if (domains_.count(made.domain) != 0) {
    for (const audit::Record& one : claimed) {
      take(one, std::get<audit::Denial>(one.said));
    }
  }
}

void WitnessTally::list(const audit::Denial& denial) {
  Key key(denial.blockers, denial.path.value_or(""), denial.device, denial.inode.value_or(0),
          denial.detail);
  const auto known = listed_.find(key);
  if (known != listed_.end()) {
    report_.denials[known->second].count += 1;
    return;
  }
  const std::size_t bytes = denial.blockers.size() + denial.path.value_or("").size() +
                            denial.device.size() + denial.detail.size();
  if (listed_.size() == kMaxListed || listed_bytes_ + bytes > kMaxListedBytes) {
    report_.unlisted += 1;
    return;
  }
  listed_bytes_ += bytes;
  listed_.emplace(std::move(key), report_.denials.size());
  WitnessedDenial entry;
  entry.blockers = denial.blockers;
  if (denial.path) {
    entry.path = schema::PathBytes(*denial.path);
  }
  entry.device = denial.device;
  entry.inode = denial.inode;
  entry.detail = denial.detail;
  report_.denials.push_back(std::move(entry));
}

bool WitnessTally::all_ended() const {
  return std::all_of(domains_.begin(), domains_.end(),
                     [](const auto& one) { return one.second.counted.has_value(); });
}

schema::WitnessReported WitnessTally::report() const {
  schema::WitnessReported report = report_;
  for (const auto& [id, domain] : domains_) {
    report.domains.push_back(hex(id));
  }
  if (!domains_.empty() && all_ended()) {
    report.counted = 0;
    for (const auto& [id, domain] : domains_) {
      *report.counted += *domain.counted;
    }
  }
  return report;
}

}  // namespace aasm::backend_native
