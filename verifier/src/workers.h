#pragma once

#include <pthread.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace aasm::verifier {

// A small pool of threads for work that shares nothing: signatures and parsing. for_each() calls
// `task` once for every index below `count`, on the pool and the calling thread, and returns when
// all are done. Fewer threads than asked are used when the system gives no more. for_each() may be
// called from one thread at a time.
class Workers {
 public:
  // `threads` in all, the caller's included; 0 means as many as there are processors.
  explicit Workers(int threads);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  void for_each(std::size_t count, const std::function<void(std::size_t)>& task);

 private:
  struct Shared;
  static void* main(void* shared);

  std::unique_ptr<Shared> shared_;
  std::vector<pthread_t> threads_;
};

}  // namespace aasm::verifier
