#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

// Names of the domain name system as they stand in messages (RFC 1035 sections 2.3.4, 3.1, 4.1.4).
namespace aasm::backend_native::dns {

inline constexpr std::size_t kMaxNameBytes = 255;
inline constexpr std::size_t kMaxLabelBytes = 63;

// A name: lengths and labels up to the zero of the root, in the case in which they came.
struct Name {
  std::string wire;
  std::size_t end = 0;  // of its bytes in the message, before any pointer was followed
};

enum class Pointers : std::uint8_t { kRefused, kFollowed };

// The name at `at`. A pointer leads to a smaller offset than every one before, behind the header,
// so that reading ends. nullopt: it runs out of the message, is too long, or is of a form that RFC
// 1035 lacks.
std::optional<Name> read_name(std::span<const std::uint8_t> message, std::size_t at,
                              Pointers pointers);

// "api.example.com": lower case, without the final dot; "." is the root. What is no letter, digit,
// '-' or '_' is written "\046", so that a dot inside a label is none.
std::string name_text(std::string_view wire);

// Case does not count in names (RFC 4343); other than of ASCII there is none.
char lower(char c);

// The reverse, for names that policy, file of hosts and host configuration write: none of those
// escapes. nullopt: a label or the whole is too long, or a label is empty or has to be escaped.
std::optional<std::string> name_wire(std::string_view text);

// By ASCII case (RFC 4343).
bool same_name(std::string_view one_wire, std::string_view other_wire);

}  // namespace aasm::backend_native::dns
