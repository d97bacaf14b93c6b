#include "name_grants.h"

#include <ifaddrs.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include <netinet/in.h>

#include "aasm/schema/address_range.h"

namespace aasm::backend_native {
namespace {

std::optional<InternetAddress> address_of(const sockaddr* name) {
  InternetAddress address;
  if (name != nullptr && name->sa_family == AF_INET) {
    std::memcpy(address.bytes.data(), &reinterpret_cast<const sockaddr_in*>(name)->sin_addr, 4);
    return address;
  }
  if (name != nullptr && name->sa_family == AF_INET6) {
    address.v6 = true;
    std::memcpy(address.bytes.data(), &reinterpret_cast<const sockaddr_in6*>(name)->sin6_addr, 16);
    return address;
  }
  return std::nullopt;
}

// Anew for each answer: addresses come and go.
std::optional<std::vector<InternetAddress>> own_addresses() {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) {
    return std::nullopt;
  }
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(list, &::freeifaddrs);
  std::vector<InternetAddress> own;
  for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
    if (const auto address = address_of(one->ifa_addr)) {
      own.push_back(*address);
    }
  }
  return own;
}

}  // namespace

InternetAddress unmapped(InternetAddress address) {
  const schema::AddressRange plain =
      schema::without_mapping({address.v6, address.bytes, address.v6 ? 128 : 32});
  address.v6 = plain.v6;
  address.bytes = plain.bytes;
  return address;
}

void NameGrants::give(const std::string& name, const std::vector<InternetAddress>& addresses,
                      std::chrono::seconds lifetime, Clock::time_point now) {
  const Clock::time_point until = now + std::clamp(lifetime, kShortest, kLongest);
  const std::optional<std::vector<InternetAddress>> own = own_addresses();
  if (!own) {
    return;
  }
  const std::lock_guard lock(mutex_);
  for (const InternetAddress& given : addresses) {
    InternetAddress address = unmapped(given);
    address.port = 0;
    if (address_class(address) != schema::AddressClass::kPublic ||
        std::find(own->begin(), own->end(), address) != own->end()) {
      continue;
    }
    Names& names = given_[{address.v6, address.bytes}];
    names[name] = std::max(names[name], until);
    forget_names(names, now);
    make_room();
  }
}

std::vector<std::string> NameGrants::names_of(const InternetAddress& address,
                                              Clock::time_point now) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  const auto found = given_.find({address.v6, address.bytes});
  if (found != given_.end()) {
    for (const auto& [name, until] : found->second) {
      if (now < until) {
        names.push_back(name);
      }
    }
  }
  return names;
}

void NameGrants::forget_names(Names& names, Clock::time_point now) {
  std::erase_if(names, [now](const auto& entry) { return entry.second <= now; });
  if (names.size() > kMostNames) {
    names.erase(std::min_element(names.begin(), names.end(),
                                 [](const auto& a, const auto& b) { return a.second < b.second; }));
  }
}

void NameGrants::make_room() {
  if (given_.size() <= kMostAddresses) {
    return;
  }
  const auto last_end = [](const auto& entry) {
    return std::max_element(entry.second.begin(), entry.second.end(),
                            [](const auto& a, const auto& b) { return a.second < b.second; })
        ->second;
  };
  given_.erase(std::min_element(given_.begin(), given_.end(), [&](const auto& a, const auto& b) {
    return last_end(a) < last_end(b);
  }));
}

}  // namespace aasm::backend_native
