#pragma once

#include <map>
#include <set>
#include <string>
#include <tuple>

#include "aasm/planner/learn.h"

namespace aasm::planner {

// The part of learn() that is about addresses and names.
class NetworkLearner {
 public:
  explicit NetworkLearner(const ResolvedPolicy& policy) : policy_(policy) {}

  void take(const schema::Event& event, const Asking& by);
  // A name that was looked up and reached needs one entry for both, unless the policy has a list of
  // names by itself.
  void finish(Lesson& lesson);

 private:
  struct Target {
    std::string host;
    std::string protocol;
    std::int64_t port = 0;
    auto operator<=>(const Target&) const = default;
  };

  std::string why_not(const schema::EventObject& object) const;
  void finish_names(Lesson& lesson);

  const ResolvedPolicy& policy_;
  std::map<Target, Asking> names_;      // reached by a name
  std::map<Target, Asking> addresses_;  // reached by an address
  std::map<Target, Asking> bound_;
  std::map<std::string, Asking> looked_up_;
  std::map<std::pair<std::string, std::string>, Asking> left_;
};

}  // namespace aasm::planner
