#pragma once

#include <pthread.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace aasm::verifier {

// A small pool of threads for work that shares nothing: signatures and parsing. A job is one task
// that is called once for every index; fewer threads than asked are used when the system gives no
// more. One job at a time, all members called from one thread.
class Workers {
 public:
  using Task = std::function<void(std::size_t)>;

  // `threads` in all, the caller's included; 0 means as many as there are processors.
  explicit Workers(int threads);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // Calls `task` for every index below `count`, on the pool and the calling thread, and returns
  // when all are done.
  void for_each(std::size_t count, const Task& task);

  // The same in pieces, for a caller that has other work meanwhile: begin() starts a job of no
  // index, allow() lets the pool take those below `count` (which only grows) and returns at once,
  // finish() takes part and returns when all allowed are done. What the caller wrote before allow()
  // the task sees. `task` lives until then.
  void begin(const Task& task);
  void allow(std::size_t count);
  void finish();

 private:
  struct Shared;
  static void* main(void* shared);

  std::unique_ptr<Shared> shared_;
  std::vector<pthread_t> threads_;
};

}  // namespace aasm::verifier
