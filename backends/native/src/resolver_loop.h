#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dns_message.h"
#include "name_lookup.h"
#include "network_judge.h"
#include "resolver.h"
#include "resolver_sockets.h"

namespace aasm::backend_native {

// What runs in the resolver's thread.
class Resolver::Loop {
 public:
  Loop(Resolver& owner, NetworkSpec spec, ResolverSockets sockets)
      : owner_(owner), spec_(std::move(spec)), sockets_(std::move(sockets)) {}

  Responder responder() const { return sockets_.responder(); }
  void run();

 private:
  using Clock = NameLookup::Clock;
  using Key = std::pair<std::string, std::uint16_t>;  // name and type

  // A question that an answer is owed to.
  struct Waiting {
    Asker asker;
    dns::Question question;
    DecidedLookup decided;
  };
  struct Pending {
    NameLookup lookup;
    std::vector<Waiting> waiting;
  };

  void wait();
  void receive();
  void settle();
  void add_lost(const char* what, std::int64_t count);
  void note_unknown(const Asker& asker);
  void take_question(const Asker& asker, std::span<const std::uint8_t> message);
  void decide(Waiting waiting);
  void look_up(Waiting waiting, const std::string& name);
  void take_results();
  void finish(Waiting waiting, dns::Answer answer);
  void reply(const Waiting& waiting, const dns::Answer& answer);

  Resolver& owner_;
  NetworkSpec spec_;
  ResolverSockets sockets_;
  std::map<Key, Pending> pending_;
  std::map<Key, Clock::time_point> failed_;  // until when nothing is asked again
  std::int64_t taken_ = 0;                   // questions
  bool ending_ = false;                      // nothing is asked any more
};

}  // namespace aasm::backend_native
