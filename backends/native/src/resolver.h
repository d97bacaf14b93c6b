#pragma once

#include <pthread.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "aasm/process/fd.h"
#include "aasm/schema/record_activity.h"
#include "aasm/schema/result.h"

#include "name_grants.h"
#include "network_spec.h"
#include "resolver_clients.h"

namespace aasm::backend_native {

// A lookup that was decided: domain, operation, object, outcome, cause, rule, errno, mechanism.
struct DecidedLookup {
  ResolverClient client;
  schema::Event event;
};

// The supervisor's own resolver (docs/decisions/0021), in a thread of its own. It takes questions
// on loopback from the sockets that ResolverClients lists, and from nobody else. What it is asked
// is what arrived: nothing is read from the workload's memory. A name that policy does not let be
// looked up is answered at once, that it does not exist, and no packet leaves; what may be is asked
// of the host's files and name servers, for an address and nothing else, in words of its own.
class Resolver {
 public:
  // Where nothing is wanted of `spec`, no thread: nullptr. kUnavailable: loopback cannot be had.
  static schema::Result<std::unique_ptr<Resolver>> start(const NetworkSpec& spec);
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;
  ~Resolver();

  Responder responder() const;
  std::shared_ptr<const NameGrants> given() const { return given_; }
  ResolverClients& clients() { return clients_; }

  // For poll(2): readable when there are decided lookups to take.
  int fd() const { return news_.get(); }
  std::vector<DecidedLookup> take_decided();

  // Ends the thread. What was decided until then can still be taken.
  void stop();

 private:
  class Loop;

  Resolver();
  static void* thread_main(void* self);
  // Of the thread: whether so much was decided and not taken that no question is received.
  bool is_behind();
  void add_decided(DecidedLookup decided);

  std::shared_ptr<NameGrants> given_;
  ResolverClients clients_;
  process::Fd news_;  // eventfd
  process::Fd stop_;  // eventfd
  std::unique_ptr<Loop> loop_;
  std::optional<pthread_t> thread_;
  std::mutex mutex_;
  std::vector<DecidedLookup> decided_;  // under mutex_
};

}  // namespace aasm::backend_native
