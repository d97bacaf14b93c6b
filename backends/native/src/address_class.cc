#include <algorithm>
#include <array>
#include <cstddef>

#include "aasm/schema/address_range.h"

#include "network_address.h"

namespace aasm::backend_native {
namespace {

using schema::AddressClass;
using schema::AddressRange;

struct ClassRange {
  std::array<std::uint8_t, 16> bytes;
  int bits;
  AddressClass kind;
};

// The first that holds the address. IANA's registries of special-purpose addresses, and of clouds
// what they document as the address of their metadata service.
constexpr std::array kV4Ranges = {
    ClassRange{{0, 0, 0, 0}, 32, AddressClass::kUnspecified},
    ClassRange{{169, 254, 169, 254}, 32, AddressClass::kMetadata},
    ClassRange{{169, 254, 170, 2}, 32, AddressClass::kMetadata},    // of containers
    ClassRange{{169, 254, 170, 23}, 32, AddressClass::kMetadata},   // of pods
    ClassRange{{100, 100, 100, 200}, 32, AddressClass::kMetadata},  // inside 100.64.0.0/10
    ClassRange{{168, 63, 129, 16}, 32, AddressClass::kMetadata},    // a public address
    ClassRange{{127}, 8, AddressClass::kLoopback},
    ClassRange{{169, 254}, 16, AddressClass::kLinkLocal},
    ClassRange{{10}, 8, AddressClass::kPrivate},
    ClassRange{{172, 16}, 12, AddressClass::kPrivate},
    ClassRange{{192, 168}, 16, AddressClass::kPrivate},
    ClassRange{{100, 64}, 10, AddressClass::kPrivate},
    ClassRange{{224}, 4, AddressClass::kMulticast},
    ClassRange{{0}, 8, AddressClass::kReserved},
    ClassRange{{192, 0, 0}, 24, AddressClass::kReserved},
    ClassRange{{192, 0, 2}, 24, AddressClass::kReserved},
    ClassRange{{198, 18}, 15, AddressClass::kReserved},
    ClassRange{{198, 51, 100}, 24, AddressClass::kReserved},
    ClassRange{{203, 0, 113}, 24, AddressClass::kReserved},
    ClassRange{{240}, 4, AddressClass::kReserved},
};

constexpr std::array kV6Ranges = {
    ClassRange{{}, 128, AddressClass::kUnspecified},
    ClassRange{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, 128, AddressClass::kLoopback},
    ClassRange{{0xfd, 0x00, 0x0e, 0xc2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x02, 0x54},
               128,
               AddressClass::kMetadata},
    ClassRange{{0xfd, 0x00, 0x0e, 0xc2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x00, 0x23},
               128,
               AddressClass::kMetadata},
    ClassRange{{0xfd, 0x20, 0x00, 0xce, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x02, 0x54},
               128,
               AddressClass::kMetadata},
    ClassRange{{0xfe, 0x80}, 10, AddressClass::kLinkLocal},
    ClassRange{{0xfc}, 7, AddressClass::kPrivate},
    ClassRange{{0xfe, 0xc0}, 10, AddressClass::kPrivate},
    ClassRange{{0xff}, 8, AddressClass::kMulticast},
    ClassRange{{}, 96, AddressClass::kTranslated},                        // ::a.b.c.d
    ClassRange{{0x00, 0x64, 0xff, 0x9b}, 96, AddressClass::kTranslated},  // NAT64
    ClassRange{{0x00, 0x64, 0xff, 0x9b, 0, 1}, 48, AddressClass::kTranslated},
    ClassRange{{0x20, 0x02}, 16, AddressClass::kTranslated},        // 6to4
    ClassRange{{0x20, 0x01, 0, 0}, 32, AddressClass::kTranslated},  // Teredo
    ClassRange{{0x20, 0x01, 0x0d, 0xb8}, 32, AddressClass::kReserved},
    ClassRange{{0x01}, 64, AddressClass::kReserved},  // discarded
};

template <std::size_t N>
AddressClass first_of(const std::array<ClassRange, N>& ranges, const AddressRange& address) {
  const auto found = std::find_if(ranges.begin(), ranges.end(), [&](const ClassRange& range) {
    return schema::range_contains({address.v6, range.bytes, range.bits}, address);
  });
  return found == ranges.end() ? AddressClass::kPublic : found->kind;
}

}  // namespace

schema::AddressClass address_class(const InternetAddress& address) {
  const AddressRange one{address.v6, address.bytes, address.v6 ? 128 : 32};
  return one.v6 ? first_of(kV6Ranges, one) : first_of(kV4Ranges, one);
}

}  // namespace aasm::backend_native
