#include "resolver_loop.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "dns_name.h"
#include "observing.h"

namespace aasm::backend_native {
namespace {

using schema::DecisionCause;
using schema::DecisionOutcome;

constexpr std::size_t kMaxPending = 32;
constexpr std::size_t kMaxWaiting = 256;  // for one lookup
constexpr std::size_t kMaxFailed = 256;
constexpr std::chrono::seconds kFailureHolds{5};  // RFC 2308 section 7

std::string type_text(std::uint16_t type) {
  return type == dns::kTypeA ? "A" : type == dns::kTypeAaaa ? "AAAA" : std::to_string(type);
}

dns::Answer loopback_answer(bool v6) {
  constexpr std::uint32_t kDay = 86400;
  return {dns::Rcode::kNoError, {loopback_address(v6, 0)}, kDay, false};
}

dns::Answer failure(dns::Rcode rcode) {
  return {rcode, {}, 0, false};
}

void make_compat(schema::Event& event, const char* rule) {
  event.outcome = DecisionOutcome::kEmulated;
  event.cause = DecisionCause::kCompat;
  event.rule = rule;
  event.os_errno = 0;
}

// What no name is known of.
schema::Event unanswered(const NetworkSpec& spec, const char* what) {
  schema::Event event = judge_name(spec, "").event;
  event.object.type = schema::ObjectType::kSocket;
  event.object.name = what;
  event.outcome = DecisionOutcome::kDenied;
  event.cause = DecisionCause::kFault;
  event.rule = spec.names_default;
  event.os_errno = EINVAL;
  return event;
}

schema::Event unreadable(const NetworkSpec& spec) {
  return unanswered(spec, "a message that asks for no name");
}

}  // namespace

void Resolver::Loop::run() {
  while (true) {
    wait();
    pollfd stop = {owner_.stop_.get(), POLLIN, 0};
    if (::poll(&stop, 1, 0) > 0) {
      settle();
      return;
    }
    if (!owner_.is_behind()) {
      receive();
    }
    take_results();
  }
}

// What found no room was asked all the same, and nobody answers it: from whom it came is not known.
void Resolver::Loop::receive() {
  sockets_.receive(
      [this](const Asker& asker) {
        const bool known = owner_.clients_.by_port(true, asker.v6, asker.port).has_value();
        if (!known) {
          note_unknown(asker);
        }
        return known;
      },
      [this](const Asker& asker, std::span<const std::uint8_t> message) {
        take_question(asker, message);
      });
  if (const std::int64_t lost = sockets_.take_lost(); lost > 0) {
    add_lost("questions that came faster than they were read", lost);
  }
}

void Resolver::Loop::add_lost(const char* what, std::int64_t count) {
  schema::Event event = unanswered(spec_, what);
  event.count = count;
  event.os_errno = ENOBUFS;
  owner_.add_decided({{}, std::move(event)});
}

// Of the workload, or somebody else's on this host, which is not for the record.
void Resolver::Loop::note_unknown(const Asker& asker) {
  if (owner_.clients_.is_forgotten(asker.stream, asker.v6, asker.port)) {
    add_lost("a question by a socket that newer ones took the place of", 1);
  }
}

// Whoever asked is gone. What has arrived is decided, and what was asked of others has an event.
void Resolver::Loop::settle() {
  constexpr int kMostRounds = 1024;
  ending_ = true;
  for (int i = 0; i < kMostRounds; ++i) {
    const std::int64_t before = taken_;
    receive();
    if (taken_ == before) {
      break;
    }
  }
  take_results();
  for (auto& [key, pending] : pending_) {
    for (Waiting& waiting : pending.waiting) {
      finish(std::move(waiting), failure(dns::Rcode::kServerFailure));
    }
  }
  pending_.clear();
}

void Resolver::Loop::wait() {
  constexpr std::chrono::milliseconds kUntilTaken{5};
  std::vector<pollfd> fds = {{owner_.stop_.get(), POLLIN, 0}};
  const bool behind = owner_.is_behind();
  sockets_.add_descriptors(fds, !behind);
  const Clock::time_point now = Clock::now();
  auto timeout = behind ? kUntilTaken : std::chrono::milliseconds::max();
  for (const auto& [key, pending] : pending_) {
    pending.lookup.add_descriptors(fds);
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(pending.lookup.next_turn() - now);
    timeout = std::min(timeout, std::max(left, std::chrono::milliseconds(0)));
  }
  const bool forever = timeout == std::chrono::milliseconds::max();
  ::poll(fds.data(), fds.size(), forever ? -1 : static_cast<int>(timeout.count()));
}

void Resolver::Loop::take_question(const Asker& asker, std::span<const std::uint8_t> message) {
  std::optional<ResolverClient> client =
      owner_.clients_.by_port(asker.stream, asker.v6, asker.port);
  if (!client) {
    note_unknown(asker);
    return;
  }
  ++taken_;
  std::optional<dns::Question> question = dns::read_question(message);
  if (!question) {
    owner_.add_decided({std::move(*client), unreadable(spec_)});
    const std::string answer = dns::write_format_error(message);
    if (!answer.empty()) {
      sockets_.send(asker, answer);
    }
    return;
  }
  Waiting waiting{asker, std::move(*question), {std::move(*client), {}}};
  if (waiting.question.opcode != 0 || waiting.question.record_class != 1) {
    owner_.add_decided({waiting.decided.client, unreadable(spec_)});
    reply(waiting, failure(dns::Rcode::kNotImplemented));
  } else if (waiting.question.edns_version != 0) {
    owner_.add_decided({waiting.decided.client, unreadable(spec_)});
    reply(waiting, failure(dns::Rcode::kBadVersion));
  } else {
    decide(std::move(waiting));
  }
}

void Resolver::Loop::decide(Waiting waiting) {
  const std::string name = dns::name_text(waiting.question.wire);
  NetworkVerdict verdict = judge_name(spec_, name);
  schema::Event& event = waiting.decided.event;
  event = std::move(verdict.event);
  event.object.query = type_text(waiting.question.type);
  const bool v6 = waiting.question.type == dns::kTypeAaaa;
  const bool address = v6 || waiting.question.type == dns::kTypeA;
  if (is_localhost(name)) {
    make_compat(event, "compat.localhost");
    finish(std::move(waiting), address ? loopback_answer(v6) : failure(dns::Rcode::kNoError));
    return;
  }
  if (!verdict.perform && spec_.observes_names) {
    verdict.perform = true;
    event = seen(std::move(event));
  }
  if (!verdict.perform) {
    dns::Answer answer = failure(dns::Rcode::kNameError);
    answer.blocked = true;
    finish(std::move(waiting), answer);
    return;
  }
  if (!address) {
    make_compat(event, "compat.query_type");
    finish(std::move(waiting), failure(dns::Rcode::kNoError));
    return;
  }
  constexpr std::uint32_t kHostsTtl = 60;
  const std::vector<InternetAddress> here = read_hosts(name, v6);
  if (!here.empty() || !read_hosts(name, !v6).empty()) {
    finish(std::move(waiting), {dns::Rcode::kNoError, here, kHostsTtl, false});
    return;
  }
  look_up(std::move(waiting), name);
}

void Resolver::Loop::look_up(Waiting waiting, const std::string& name) {
  const Clock::time_point now = Clock::now();
  const Key key{name, waiting.question.type};
  const auto failed = failed_.find(key);
  const bool known_to_fail = failed != failed_.end() && now < failed->second;
  auto pending = pending_.find(key);
  const bool full = pending == pending_.end() ? pending_.size() >= kMaxPending
                                              : pending->second.waiting.size() >= kMaxWaiting;
  if (known_to_fail || full || ending_) {
    finish(std::move(waiting), failure(dns::Rcode::kServerFailure));
    return;
  }
  if (pending == pending_.end()) {
    const std::optional<std::string> wire = dns::name_wire(name);
    if (!wire) {  // a label that has to be escaped: no host is called so
      finish(std::move(waiting), failure(dns::Rcode::kNameError));
      return;
    }
    pending =
        pending_
            .emplace(
                key,
                Pending{NameLookup(*wire, waiting.question.type, read_name_servers(), now), {}})
            .first;
  }
  pending->second.waiting.push_back(std::move(waiting));
}

void Resolver::Loop::take_results() {
  const Clock::time_point now = Clock::now();
  for (auto at = pending_.begin(); at != pending_.end();) {
    at->second.lookup.advance(now);
    if (!at->second.lookup.result()) {
      ++at;
      continue;
    }
    const dns::Answer answer = *at->second.lookup.result();
    if (answer.rcode == dns::Rcode::kServerFailure) {
      std::erase_if(failed_, [now](const auto& entry) { return entry.second <= now; });
      if (failed_.size() < kMaxFailed) {
        failed_[at->first] = now + kFailureHolds;
      }
    }
    for (Waiting& waiting : at->second.waiting) {
      finish(std::move(waiting), answer);
    }
    at = pending_.erase(at);
  }
}

// What was given may be connected to before the program knows it, and its record is on the way.
void Resolver::Loop::finish(Waiting waiting, dns::Answer answer) {
  schema::Event& event = waiting.decided.event;
  constexpr auto kLongest = static_cast<std::uint32_t>(NameGrants::kLongest.count());
  answer.ttl = std::min(answer.ttl, kLongest);
  if (event.outcome != DecisionOutcome::kDenied) {
    event.object.answers.emplace();
    for (const InternetAddress& address : answer.addresses) {
      event.object.answers->push_back(address_text(address));
    }
  }
  if (event.outcome == DecisionOutcome::kAllowed) {
    event.os_errno = answer.rcode == dns::Rcode::kServerFailure ? ETIMEDOUT : 0;
    owner_.given_->give(event.object.name, answer.addresses, std::chrono::seconds(answer.ttl),
                        Clock::now());
  }
  owner_.add_decided(std::move(waiting.decided));
  reply(waiting, answer);
}

void Resolver::Loop::reply(const Waiting& waiting, const dns::Answer& answer) {
  const std::size_t payload = waiting.question.edns ? waiting.question.payload : 0;
  const std::size_t limit = waiting.asker.stream
                                ? dns::kLargestAnswer
                                : std::clamp(payload, dns::kPlainLimit, dns::kLargestUdp);
  sockets_.send(waiting.asker, dns::write_answer(waiting.question, answer, limit));
}

}  // namespace aasm::backend_native
