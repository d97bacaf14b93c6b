#include "resolver.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "masked_thread.h"
#include "resolver_loop.h"

namespace aasm::backend_native {

using schema::Result;

Resolver::Resolver()
    : given_(std::make_shared<NameGrants>()),
      news_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      stop_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

Result<std::unique_ptr<Resolver>> Resolver::start(const NetworkSpec& spec) {
  std::unique_ptr<Resolver> resolver;
  if (!spec.answers_names()) {
    return resolver;
  }
  resolver.reset(new Resolver());
  if (!resolver->news_ || !resolver->stop_) {
    return process::system_error("making an event descriptor", errno);
  }
  ResolverSockets sockets = AASM_TRY(ResolverSockets::open());
  resolver->loop_ = std::make_unique<Loop>(*resolver, spec, std::move(sockets));
  resolver->thread_ =
      AASM_TRY_CONTEXT(start_masked_thread(&Resolver::thread_main, resolver.get()), "the resolver");
  return resolver;
}

Resolver::~Resolver() {
  stop();
}

void* Resolver::thread_main(void* self) {
  static_cast<Resolver*>(self)->loop_->run();
  return nullptr;
}

Responder Resolver::responder() const {
  return loop_->responder();
}

void Resolver::stop() {
  if (thread_) {
    raise_event(stop_);
    ::pthread_join(*thread_, nullptr);
    thread_.reset();
  }
}

bool Resolver::is_behind() {
  constexpr std::size_t kMostDecided = 2048;
  const std::lock_guard lock(mutex_);
  return decided_.size() >= kMostDecided;
}

void Resolver::add_decided(DecidedLookup decided) {
  const std::lock_guard lock(mutex_);
  decided_.push_back(std::move(decided));
  raise_event(news_);
}

std::vector<DecidedLookup> Resolver::take_decided() {
  const std::lock_guard lock(mutex_);
  if (decided_.empty()) {
    return {};
  }
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t got = ::read(news_.get(), &count, sizeof count);
  return std::exchange(decided_, {});
}

}  // namespace aasm::backend_native
