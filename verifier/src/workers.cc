#include "workers.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace aasm::verifier {
namespace {

constexpr int kMaxThreads = 64;
constexpr std::size_t kSharesOfAThread = 4;

}  // namespace

struct Workers::Shared {
  std::mutex mutex;
  std::condition_variable work_came;
  std::condition_variable work_done;
  const Task* task = nullptr;  // guarded by mutex, as all below
  std::size_t next = 0;        // first index nobody took
  std::size_t allowed = 0;
  std::size_t running = 0;
  std::size_t num_threads = 1;
  bool stop = false;

  // Runs some indices with the lock released meanwhile: many while there are many, for a task may
  // be as cheap as the lock, and one at a time in the end, so that all threads end together. False
  // when there is none to take.
  bool take_some(std::unique_lock<std::mutex>& lock) {
    if (next >= allowed) {
      return false;
    }
    const Task& job = *task;
    const std::size_t first = next;
    next += std::max<std::size_t>(1, (allowed - next) / (kSharesOfAThread * num_threads));
    const std::size_t end = next;
    ++running;
    lock.unlock();
    for (std::size_t index = first; index < end; ++index) {
      job(index);
    }
    lock.lock();
    --running;
    return true;
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
    const std::lock_guard<std::mutex> lock(shared_->mutex);
    ++shared_->num_threads;
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
  std::unique_lock<std::mutex> lock(state.mutex);
  while (!state.stop) {
    if (state.take_some(lock)) {
      continue;
    }
    if (state.running == 0) {
      state.work_done.notify_one();
    }
    state.work_came.wait(lock, [&] { return state.stop || state.next < state.allowed; });
  }
  return nullptr;
}

void Workers::begin(const Task& task) {
  const std::lock_guard<std::mutex> lock(shared_->mutex);
  shared_->task = &task;
  shared_->next = 0;
  shared_->allowed = 0;
}

void Workers::allow(std::size_t count) {
  {
    const std::lock_guard<std::mutex> lock(shared_->mutex);
    shared_->allowed = count;
  }
  shared_->work_came.notify_all();
}

void Workers::finish() {
  std::unique_lock<std::mutex> lock(shared_->mutex);
  while (shared_->take_some(lock)) {
  }
  shared_->work_done.wait(lock, [&] { return shared_->running == 0; });
}

void Workers::for_each(std::size_t count, const Task& task) {
  begin(task);
  allow(count);
  finish();
}

}  // namespace aasm::verifier
