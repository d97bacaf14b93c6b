#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "aasm/schema/result.h"

namespace aasm::crypto {

// Overwrites `bytes` with zeros in a way the compiler keeps (explicit_bzero(3)).
void wipe_bytes(std::span<std::uint8_t> bytes);

// One anonymous page that holds a 32-byte seed: locked with mlock(2), left out of core dumps
// (MADV_DONTDUMP) and zero in every forked child (MADV_WIPEONFORK). Move-only; zeroed by wipe()
// and on destruction. Not thread-safe against wipe(), set() and moves; reading is.
//
// What this does not give: locking may be refused (RLIMIT_MEMLOCK), see locked(); and while a
// signature is made the crypto library keeps copies of the seed in ordinary heap memory and on the
// stack. It wipes its heap copies when done; copies left in registers and stack frames, and pages
// swapped out during those microseconds, are outside our hands.
class SecretPage {
 public:
  static constexpr std::size_t kSeedBytes = 32;

  // An empty page: live() is false. Fails when the page cannot be mapped or cannot be kept out of
  // dumps and children; failing to lock is not a failure but is reported by locked().
  static schema::Result<SecretPage> create();

  ~SecretPage();
  SecretPage(SecretPage&& other) noexcept;
  SecretPage& operator=(SecretPage&& other) noexcept;
  SecretPage(const SecretPage&) = delete;
  SecretPage& operator=(const SecretPage&) = delete;

  // Copies `seed` into the page. The caller wipes its own copy.
  void set(std::span<const std::uint8_t, kSeedBytes> seed);
  // The seed. Aborts unless live().
  std::span<const std::uint8_t, kSeedBytes> seed() const;

  // True from set() to wipe(); false in a forked child, whose copy the kernel zeroed.
  bool live() const;
  // True when mlock(2) succeeded.
  bool locked() const { return locked_; }
  void wipe();

 private:
  SecretPage(std::uint8_t* page, std::size_t size_bytes, bool locked)
      : page_(page), size_bytes_(size_bytes), locked_(locked) {}
  void release();

  std::uint8_t* page_;  // nullptr when moved from
  std::size_t size_bytes_;
  bool locked_;
};

}  // namespace aasm::crypto
