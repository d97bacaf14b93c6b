#pragma once

#include <map>
#include <string>

#include "home.h"

namespace aasm::cli {

// Owner, group and mode of aasm's own files, and the time of the last change of those that no run
// writes (keys, trust files). Landlock has no right for them: a workload of the same user can
// change them by path, so a run says when somebody did. What it says is seen at two moments;
// who did it is not known.
class OwnFiles {
 public:
  static OwnFiles look(const Home& home, const std::string& ledger);

  // One sentence when one that was seen is no longer what it was, else empty.
  std::string change() const;

 private:
  struct State {
    bool with_time = false;
    std::string attributes;
  };

  void add(const std::string& path, bool with_time);

  std::map<std::string, State> state_;  // by path
};

}  // namespace aasm::cli
