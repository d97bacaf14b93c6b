#include "resolver_config.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>

#include <net/if.h>

#include "aasm/process/fd.h"
#include "aasm/schema/address_range.h"

#include "dns_name.h"

namespace aasm::backend_native {
namespace {

constexpr std::size_t kMaxServers = 3;  // MAXNS
constexpr std::uint16_t kNamePort = 53;
constexpr std::size_t kMaxFile = std::size_t{1} << 20U;

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  line = line.substr(0, line.find_first_of("#;"));
  while (true) {
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) {
      return words;
    }
    line.remove_prefix(begin);
    const std::size_t end = std::min(line.find_first_of(" \t\r"), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

template <class Take>
void each_line(std::string_view text, const Take& take) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    take(words_of(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::optional<InternetAddress> parse_one(std::string_view text) {
  const std::optional<schema::AddressRange> parsed = schema::parse_address(text);
  if (!parsed) {
    return std::nullopt;
  }
  InternetAddress address;
  address.v6 = parsed->v6;
  address.bytes = parsed->bytes;
  return address;
}

bool same_host(std::string_view written, std::string_view name) {
  if (!written.empty() && written.back() == '.') {
    written.remove_suffix(1);
  }
  return std::equal(written.begin(), written.end(), name.begin(), name.end(),
                    [](char a, char b) { return dns::lower(a) == b; });
}

std::string read_text(const char* path) {
  const schema::Result<process::Fd> file = process::open_file(path, O_RDONLY | O_NONBLOCK);
  std::string text;
  std::array<char, 4096> block{};
  while (file && text.size() < kMaxFile) {
    const ssize_t got = ::read(file->get(), block.data(), block.size());
    if (got == 0 || (got < 0 && errno != EINTR)) {
      break;
    }
    text.append(block.data(), got < 0 ? 0 : static_cast<std::size_t>(got));
  }
  return text;
}

}  // namespace

std::vector<NameServer> parse_name_servers(std::string_view resolv_conf) {
  std::vector<NameServer> servers;
  each_line(resolv_conf, [&](const std::vector<std::string_view>& words) {
    if (words.size() < 2 || words[0] != "nameserver" || servers.size() == kMaxServers) {
      return;
    }
    const std::size_t percent = words[1].find('%');
    std::optional<InternetAddress> address = parse_one(words[1].substr(0, percent));
    if (!address) {
      return;
    }
    address->port = kNamePort;
    NameServer server{*address, 0};
    if (percent != std::string_view::npos) {
      server.scope = ::if_nametoindex(std::string(words[1].substr(percent + 1)).c_str());
    }
    servers.push_back(server);
  });
  if (servers.empty()) {
    InternetAddress loopback;
    loopback.bytes = {127, 0, 0, 1};
    loopback.port = kNamePort;
    servers.push_back({loopback, 0});
  }
  return servers;
}

std::vector<InternetAddress> find_in_hosts(std::string_view hosts, std::string_view name, bool v6) {
  std::vector<InternetAddress> found;
  each_line(hosts, [&](const std::vector<std::string_view>& words) {
    if (words.size() < 2 || std::none_of(words.begin() + 1, words.end(), [&](std::string_view one) {
          return same_host(one, name);
        })) {
      return;
    }
    const std::optional<InternetAddress> address = parse_one(words[0]);
    if (address && address->v6 == v6) {
      found.push_back(*address);
    }
  });
  return found;
}

std::vector<NameServer> read_name_servers() {
  return parse_name_servers(read_text("/etc/resolv.conf"));
}

std::vector<InternetAddress> read_hosts(std::string_view name, bool v6) {
  return find_in_hosts(read_text("/etc/hosts"), name, v6);
}

}  // namespace aasm::backend_native
