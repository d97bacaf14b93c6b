#pragma once

#include <cstddef>
#include <vector>

#include "record_view.h"

namespace aasm::verifier {

// Records that go through the checks together. What the bytes of a record took is used again for
// those of a later batch: most of a scan's allocations otherwise.
class RecordBatch {
 public:
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  RecordView& operator[](std::size_t index) { return views_[index]; }

  void clear() { size_ = 0; }
  // One more, as new. Moves the records.
  RecordView& add() {
    if (size_ == views_.size()) {
      views_.emplace_back();
    }
    views_[size_].clear();
    return views_[size_++];
  }
  void drop_last() { --size_; }

 private:
  std::vector<RecordView> views_;
  std::size_t size_ = 0;
};

}  // namespace aasm::verifier
