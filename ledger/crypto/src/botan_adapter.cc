#include "botan_adapter.h"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <botan/ed25519.h>
#include <botan/hash.h>
#include <botan/pubkey.h>
#include <botan/rng.h>
#include <botan/secmem.h>

#include "aasm/crypto/hash.h"
#include "aasm/crypto/prepare.h"

namespace aasm::crypto {
namespace detail {
namespace {

constexpr const char* kPoolVariable = "BOTAN_MLOCK_POOL_SIZE";

// Runs `call`; false when it threw. Exhausted memory is not an answer about a key or a signature,
// so it leaves through the caller's noexcept and ends the process.
template <class Call>
bool without_exceptions(Call call) {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace

void prepare_botan() noexcept {
  std::optional<std::string> previous;
  if (const char* value = ::getenv(kPoolVariable)) {
    previous = value;
  }
  ::setenv(kPoolVariable, "0", 1);
  const Botan::secure_vector<std::uint8_t> first_allocation(32);
  if (previous) {
    ::setenv(kPoolVariable, previous->c_str(), 1);
  } else {
    ::unsetenv(kPoolVariable);
  }
}

bool ed25519_public_key(std::span<const std::uint8_t, 32> seed,
                        std::span<std::uint8_t, 32> public_key) noexcept {
  prepare();
  return without_exceptions([&] {
    const Botan::Ed25519_PrivateKey key(
        Botan::secure_vector<std::uint8_t>(seed.begin(), seed.end()));
    const std::vector<std::uint8_t>& bytes = key.get_public_key();
    if (bytes.size() != public_key.size()) {
      return false;
    }
    std::copy(bytes.begin(), bytes.end(), public_key.begin());
    return true;
  });
}

bool ed25519_sign(std::span<const std::uint8_t, 32> seed,
                  std::span<const std::uint8_t, 32> public_key, schema::ByteView message,
                  std::span<std::uint8_t, 64> signature) noexcept {
  prepare();
  return without_exceptions([&] {
    // Seed and public key together spare Botan deriving the latter, half of the cost.
    Botan::secure_vector<std::uint8_t> secret(seed.begin(), seed.end());
    secret.insert(secret.end(), public_key.begin(), public_key.end());
    const Botan::Ed25519_PrivateKey key(secret);
    Botan::Null_RNG no_randomness;  // Ed25519 signatures are deterministic.
    Botan::PK_Signer signer(key, no_randomness, "Pure");
    const std::vector<std::uint8_t> bytes =
        signer.sign_message(message.data(), message.size(), no_randomness);
    if (bytes.size() != signature.size()) {
      return false;
    }
    std::copy(bytes.begin(), bytes.end(), signature.begin());
    return true;
  });
}

bool ed25519_verify(std::span<const std::uint8_t, 32> public_key, schema::ByteView message,
                    std::span<const std::uint8_t, 64> signature) noexcept {
  prepare();
  return without_exceptions([&] {
    const Botan::Ed25519_PublicKey key(public_key.data(), public_key.size());
    // A verifier that was used before may carry state over, so each record gets its own.
    Botan::PK_Verifier verifier(key, "Pure");
    return verifier.verify_message(message.data(), message.size(), signature.data(),
                                   signature.size());
  });
}

}  // namespace detail

struct Sha256Hasher::State {
  std::unique_ptr<Botan::HashFunction> function;
};

namespace {

std::unique_ptr<Botan::HashFunction> new_sha256() {
  prepare();
  std::unique_ptr<Botan::HashFunction> function = Botan::HashFunction::create("SHA-256");
  if (function == nullptr || function->output_length() != 32) {
    std::abort();  // A build of Botan without SHA-256 cannot serve at all.
  }
  return function;
}

schema::Sha256 finish_hash(Botan::HashFunction& function) {
  schema::Sha256 digest;
  function.final(digest.bytes.data());
  return digest;
}

}  // namespace

Sha256Hasher::Sha256Hasher() noexcept : state_(std::make_unique<State>(State{new_sha256()})) {}
Sha256Hasher::~Sha256Hasher() = default;
Sha256Hasher::Sha256Hasher(Sha256Hasher&&) noexcept = default;
Sha256Hasher& Sha256Hasher::operator=(Sha256Hasher&&) noexcept = default;

Sha256Hasher& Sha256Hasher::update(schema::ByteView bytes) noexcept {
  if (state_ == nullptr) {
    std::abort();
  }
  state_->function->update(bytes.data(), bytes.size());
  return *this;
}

schema::Sha256 Sha256Hasher::finish() noexcept {
  if (state_ == nullptr) {
    std::abort();
  }
  return finish_hash(*state_->function);
}

schema::Sha256 sha256(schema::ByteView bytes) noexcept {
  return sha256_of({bytes});
}

schema::Sha256 sha256_of(std::initializer_list<schema::ByteView> pieces) noexcept {
  // Making one costs as much as hashing a hundred bytes; final() leaves it as new.
  static thread_local const std::unique_ptr<Botan::HashFunction> function = new_sha256();
  for (const schema::ByteView piece : pieces) {
    function->update(piece.data(), piece.size());
  }
  return finish_hash(*function);
}

}  // namespace aasm::crypto
