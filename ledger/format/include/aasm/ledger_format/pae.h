#pragma once

#include <cstddef>
#include <string_view>

#include "aasm/schema/digest.h"

// docs/spec/ledger-format.md section 1: one byte string is what is signed, chained and hashed
// into the tree. Everything here is pure and thread-safe.
namespace aasm::ledger_format {

inline constexpr std::string_view kPayloadType = "application/vnd.in-toto+json";
inline constexpr std::size_t kPaeMaxBytes = 65535;

// Pre-authentication encoding of DSSE 1.0.2 for any type:
// "DSSEv1" SP len(type) SP type SP len(payload) SP payload.
schema::Bytes dsse_pae(std::string_view type, schema::ByteView payload);

// The PAE of a record's payload (type kPayloadType). Precondition: at most
// schema::kPayloadMaxBytes long, so the result is at most kPaeMaxBytes; violated, it aborts.
schema::Bytes pae(schema::ByteView payload);
// The same into `out`, in the room it has.
void write_pae(schema::ByteView payload, schema::Bytes& out);

// SHA-256(0x00 || pae): RFC 6962 leaf hash of the entry `pae`.
schema::LeafHash leaf_hash(schema::ByteView pae);

// `prev` of record 0: SHA-256("aasm.genesis.v1\n" || origin).
schema::LeafHash genesis_prev(std::string_view origin);

}  // namespace aasm::ledger_format
