#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "network_address.h"

namespace aasm::backend_native {

// The addresses that this run's resolver has given out, each for the names it was asked for. Any
// thread.
class NameGrants {
 public:
  using Clock = std::chrono::steady_clock;
  // How long after the answer an address may be connected to, whatever its lifetime says: programs
  // look up first and connect later, and some remember what they were told.
  static constexpr std::chrono::seconds kShortest{60};
  static constexpr std::chrono::seconds kLongest{3600};
  // Those that end first make room.
  static constexpr std::size_t kMostAddresses = 4096;
  static constexpr std::size_t kMostNames = 64;  // of one address

  // Left out is what a name must not lead to: every address that is not public, and this host's.
  void give(const std::string& name, const std::vector<InternetAddress>& addresses,
            std::chrono::seconds lifetime, Clock::time_point now);

  // The names for which `address` holds; its port is not looked at.
  std::vector<std::string> names_of(const InternetAddress& address, Clock::time_point now) const;

 private:
  using Key = std::pair<bool, std::array<std::uint8_t, 16>>;
  using Names = std::map<std::string, Clock::time_point>;  // until when

  static void forget_names(Names& names, Clock::time_point now);
  void make_room();

  mutable std::mutex mutex_;
  std::map<Key, Names> given_;
};

// IPv4 that is mapped into IPv6 is that IPv4 address.
InternetAddress unmapped(InternetAddress address);

}  // namespace aasm::backend_native
