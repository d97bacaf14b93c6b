#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "network_address.h"

// What the host's own files say about names: resolv.conf(5) and hosts(5). Pure but for read_*().
namespace aasm::backend_native {

struct NameServer {
  InternetAddress address;  // port 53
  std::uint32_t scope = 0;  // interface, of a link-local address
};

// At most three, as the C library takes them; without any, the one on loopback.
std::vector<NameServer> parse_name_servers(std::string_view resolv_conf);

// The addresses of one family that a file of hosts has for a name (dns::name_text()).
std::vector<InternetAddress> find_in_hosts(std::string_view hosts, std::string_view name, bool v6);

// Of this process: through whatever links /etc has. A file that cannot be read says nothing.
std::vector<NameServer> read_name_servers();
std::vector<InternetAddress> read_hosts(std::string_view name, bool v6);

}  // namespace aasm::backend_native
