#pragma once

namespace aasm::crypto {

// Makes the crypto library ready and keeps its pool of locked pages off, which would cost about
// 2 ms of mlock(2) calls at first use (our own keys live in SecretPage instead). It sets, uses and
// restores the variable BOTAN_MLOCK_POOL_SIZE of this process, so call it at the start of main(),
// before other threads read the environment. Idempotent and thread-safe against itself; the
// functions of this module call it themselves if nobody has.
void prepare();

}  // namespace aasm::crypto
