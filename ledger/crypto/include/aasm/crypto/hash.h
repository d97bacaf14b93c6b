#pragma once

#include <initializer_list>
#include <memory>

#include "aasm/schema/digest.h"

namespace aasm::crypto {

// SHA-256 (FIPS 180-4) of `bytes`. Thread-safe. Out of memory ends the process.
schema::Sha256 sha256(schema::ByteView bytes) noexcept;
// The same of several pieces, one behind the other.
schema::Sha256 sha256_of(std::initializer_list<schema::ByteView> pieces) noexcept;

// SHA-256 of bytes that arrive in pieces. Movable, owned by one thread at a time; a moved-from
// hasher may only be assigned to or destroyed, any other use aborts.
class Sha256Hasher {
 public:
  Sha256Hasher() noexcept;
  ~Sha256Hasher();
  Sha256Hasher(Sha256Hasher&&) noexcept;
  Sha256Hasher& operator=(Sha256Hasher&&) noexcept;
  Sha256Hasher(const Sha256Hasher&) = delete;
  Sha256Hasher& operator=(const Sha256Hasher&) = delete;

  Sha256Hasher& update(schema::ByteView bytes) noexcept;
  // The digest of everything since construction or the last finish(); the hasher starts anew.
  schema::Sha256 finish() noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace aasm::crypto
