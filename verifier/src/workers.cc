#include "workers.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace aasm::verifier {
namespace {

constexpr int kMaxThreads = 64;

}  // namespace

struct Workers::Shared {
  std::mutex mutex;
  std::condition_variable work_came;
  std::condition_variable work_done;
  const std::function<void(std::size_t)>* task = nullptr;  // guarded by mutex, as all below
  std::size_t count = 0;
  std::size_t busy = 0;
  std::size_t round = 0;
  bool stop = false;
  std::atomic<std::size_t> next{0};

  void take_all(const std::function<void(std::size_t)>& job, std::size_t limit) {
    for (std::size_t i = next.fetch_add(1); i < limit; i = next.fetch_add(1)) {
      job(i);
    }
  }
};

// pthread_create(3) and not std::thread: that throws when there is no thread to be had.
Workers::Workers(int threads) : shared_(std::make_unique<Shared>()) {
  const auto processors = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  const int wanted = std::clamp(threads > 0 ? threads : processors, 1, kMaxThreads);
  for (int i = 1; i < wanted; ++i) {
    pthread_t thread{};
    if (pthread_create(&thread, nullptr, &Workers::main, shared_.get()) != 0) {
      break;
    }
    threads_.push_back(thread);
  }
}

Workers::~Workers() {
  {
    const std::lock_guard<std::mutex> lock(shared_->mutex);
    shared_->stop = true;
  }
  shared_->work_came.notify_all();
  for (const pthread_t thread : threads_) {
    pthread_join(thread, nullptr);
  }
}

void* Workers::main(void* shared) {
  auto& state = *static_cast<Shared*>(shared);
  std::size_t seen = 0;
  std::unique_lock<std::mutex> lock(state.mutex);
  for (;;) {
    state.work_came.wait(lock, [&] { return state.stop || state.round != seen; });
    if (state.stop) {
      return nullptr;
    }
    seen = state.round;
    const std::function<void(std::size_t)>& task = *state.task;
    const std::size_t count = state.count;
    lock.unlock();
    state.take_all(task, count);
    lock.lock();
    if (--state.busy == 0) {
      state.work_done.notify_one();
    }
  }
}

void Workers::for_each(std::size_t count, const std::function<void(std::size_t)>& task) {
  {
    const std::lock_guard<std::mutex> lock(shared_->mutex);
    shared_->task = &task;
    shared_->count = count;
    shared_->next = 0;
    shared_->busy = threads_.size();
    ++shared_->round;
  }
  shared_->work_came.notify_all();
  shared_->take_all(task, count);
  std::unique_lock<std::mutex> lock(shared_->mutex);
  shared_->work_done.wait(lock, [&] { return shared_->busy == 0; });
}

}  // namespace aasm::verifier
