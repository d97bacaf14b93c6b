#include "resolver_config.h"

#include <gtest/gtest.h>

namespace aasm::backend_native {
namespace {

std::vector<std::string> servers(std::string_view text) {
  std::vector<std::string> found;
  for (const NameServer& server : parse_name_servers(text)) {
    EXPECT_EQ(server.address.port, 53);
    found.push_back(address_text(server.address));
  }
  return found;
}

TEST(ResolverConfigTest, NameServersAreThoseTheCLibraryTakes) {
  using Servers = std::vector<std::string>;
  EXPECT_EQ(
      servers(
          "# nameserver 1.1.1.1\nsearch a b\nnameserver 10.0.0.1\r\n\tnameserver\tfd00::53 ; x\n"),
      (Servers{"10.0.0.1", "fd00::53"}));
  EXPECT_EQ(
      servers("nameserver 10.0.0.1\nnameserver 10.0.0.2\nnameserver 10.0.0.3\nnameserver 10.0.0.4"),
      (Servers{"10.0.0.1", "10.0.0.2", "10.0.0.3"}));
  EXPECT_EQ(servers("nameserver example.org\nnameserver\n"), Servers{"127.0.0.1"});
  EXPECT_EQ(servers(""), Servers{"127.0.0.1"});
  EXPECT_NE(parse_name_servers("nameserver fe80::1%lo").front().scope, 0U);
}

TEST(ResolverConfigTest, TheFileOfHostsIsReadByNameAndFamily) {
  constexpr std::string_view kHosts =
      "127.0.0.1 localhost\n10.0.0.1\tdb DB.Example. other # db2\n::1 db\nno.address db\n10.0.0.2 "
      "db";
  EXPECT_EQ(find_in_hosts(kHosts, "db", false).size(), 2U);
  EXPECT_EQ(find_in_hosts(kHosts, "db", true).size(), 1U);
  EXPECT_EQ(find_in_hosts(kHosts, "db.example", false).size(), 1U);
  EXPECT_TRUE(find_in_hosts(kHosts, "db2", false).empty());
  EXPECT_TRUE(find_in_hosts(kHosts, "10.0.0.1", false).empty());
  EXPECT_TRUE(find_in_hosts("", "db", false).empty());
}

}  // namespace
}  // namespace aasm::backend_native
