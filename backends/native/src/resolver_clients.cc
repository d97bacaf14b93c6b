#include "resolver_clients.h"

#include <algorithm>
#include <utility>

namespace aasm::backend_native {

void ResolverClients::add(ResolverClient client) {
  const std::lock_guard lock(mutex_);
  std::erase_if(clients_, [&](const ResolverClient& known) {
    return known.cookie == client.cookie ||
           (known.stream == client.stream && known.v6 == client.v6 && known.port == client.port);
  });
  forgotten_.at(kind_of(client.stream, client.v6)).reset(client.port);
  clients_.push_front(std::move(client));
  if (clients_.size() > kMost) {
    const ResolverClient& oldest = clients_.back();
    forgotten_.at(kind_of(oldest.stream, oldest.v6)).set(oldest.port);
    clients_.pop_back();
  }
}

bool ResolverClients::is_forgotten(bool stream, bool v6, std::uint16_t port) const {
  const std::lock_guard lock(mutex_);
  return forgotten_.at(kind_of(stream, v6)).test(port);
}

std::optional<ResolverClient> ResolverClients::by_cookie(std::uint64_t cookie) const {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(clients_.begin(), clients_.end(),
                                  [&](const auto& client) { return client.cookie == cookie; });
  return found == clients_.end() ? std::nullopt : std::optional(*found);
}

std::optional<ResolverClient> ResolverClients::by_port(bool stream, bool v6,
                                                       std::uint16_t port) const {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(clients_.begin(), clients_.end(), [&](const auto& client) {
    return client.stream == stream && client.v6 == v6 && client.port == port;
  });
  return found == clients_.end() ? std::nullopt : std::optional(*found);
}

bool ResolverClients::empty() const {
  const std::lock_guard lock(mutex_);
  return clients_.empty();
}

}  // namespace aasm::backend_native
