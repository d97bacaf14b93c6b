#include "aasm/ledger_format/pae.h"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "aasm/crypto/hash.h"
#include "aasm/schema/json_parse.h"

namespace aasm::ledger_format {
namespace {

void append_text(schema::Bytes& out, std::string_view text) {
  const schema::ByteView bytes = schema::as_bytes(text);
  out.insert(out.end(), bytes.begin(), bytes.end());
}

}  // namespace

schema::Bytes dsse_pae(std::string_view type, schema::ByteView payload) {
  const std::string header = "DSSEv1 " + std::to_string(type.size()) + " " + std::string(type) +
                             " " + std::to_string(payload.size()) + " ";
  schema::Bytes out;
  out.reserve(header.size() + payload.size());
  append_text(out, header);
  out.insert(out.end(), payload.begin(), payload.end());
  return out;
}

schema::Bytes pae(schema::ByteView payload) {
  if (payload.size() > schema::kPayloadMaxBytes) {
    std::abort();
  }
  return dsse_pae(kPayloadType, payload);
}

schema::LeafHash leaf_hash(schema::ByteView pae) {
  constexpr std::array<std::uint8_t, 1> kLeafPrefix = {0x00};
  crypto::Sha256Hasher hasher;
  return {hasher.update(kLeafPrefix).update(pae).finish().bytes};
}

schema::LeafHash genesis_prev(std::string_view origin) {
  crypto::Sha256Hasher hasher;
  hasher.update(schema::as_bytes("aasm.genesis.v1\n")).update(schema::as_bytes(origin));
  return {hasher.finish().bytes};
}

}  // namespace aasm::ledger_format
