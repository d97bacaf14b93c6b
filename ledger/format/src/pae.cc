#include "aasm/ledger_format/pae.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "aasm/crypto/hash.h"
#include "aasm/schema/json_parse.h"

namespace aasm::ledger_format {
namespace {

constexpr std::string_view kVersion = "DSSEv1 ";
constexpr std::size_t kMaxNumber = 21;  // 64 bits in decimal, and what separates

void append_text(schema::Bytes& out, std::string_view text) {
  const schema::ByteView bytes = schema::as_bytes(text);
  out.insert(out.end(), bytes.begin(), bytes.end());
}

// With the space behind it.
void append_number(schema::Bytes& out, std::size_t number) {
  std::array<char, kMaxNumber> digits{};
  const char* end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  append_text(out, {digits.data(), static_cast<std::size_t>(end - digits.data())});
  out.push_back(' ');
}

void put_pae(std::string_view type, schema::ByteView payload, schema::Bytes& out) {
  out.reserve(kVersion.size() + type.size() + 2 * kMaxNumber + payload.size());
  append_text(out, kVersion);
  append_number(out, type.size());
  append_text(out, type);
  out.push_back(' ');
  append_number(out, payload.size());
  out.insert(out.end(), payload.begin(), payload.end());
}

}  // namespace

schema::Bytes dsse_pae(std::string_view type, schema::ByteView payload) {
  schema::Bytes out;
  put_pae(type, payload, out);
  return out;
}

schema::Bytes pae(schema::ByteView payload) {
  schema::Bytes out;
  write_pae(payload, out);
  return out;
}

void write_pae(schema::ByteView payload, schema::Bytes& out) {
  if (payload.size() > schema::kPayloadMaxBytes) {
    std::abort();
  }
  out.clear();
  put_pae(kPayloadType, payload, out);
}

schema::LeafHash leaf_hash(schema::ByteView pae) {
  constexpr std::array<std::uint8_t, 1> kLeafPrefix = {0x00};
  return {crypto::sha256_of({kLeafPrefix, pae}).bytes};
}

schema::LeafHash genesis_prev(std::string_view origin) {
  return {
      crypto::sha256_of({schema::as_bytes("aasm.genesis.v1\n"), schema::as_bytes(origin)}).bytes};
}

}  // namespace aasm::ledger_format
