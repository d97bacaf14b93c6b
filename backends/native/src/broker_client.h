#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "aasm/process/fd.h"
#include "aasm/schema/result.h"
#include "aasm/wire/broker_message.h"

// The supervisor's side of the broker's socket (aasm/wire/broker_message.h).
namespace aasm::backend_native {

// Whose rights a brokered call is made with.
struct BrokerCredentials {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::vector<std::uint32_t> groups;  // at most kMaxBrokerGroups
  std::uint64_t capabilities = 0;     // effective
  bool operator==(const BrokerCredentials& other) const {
    return uid == other.uid && gid == other.gid && groups == other.groups &&
           capabilities == other.capabilities;
  }
};

// One system call to make. Descriptors are borrowed for the sending.
struct BrokerOrder {
  wire::BrokerKind kind = wire::BrokerKind::kConnect;
  std::uint32_t flags = 0;  // kBroker*; those that name a section or descriptor are added
  std::uint32_t send_flags = 0;
  std::int32_t backlog = 0;
  std::uint32_t mode_mask = 0;  // with `directory`
  std::string name;
  std::string control;
  std::string data;
  int socket = -1;  // -1 with kFile: only `rights` are passed
  int directory = -1;
  int target = -1;  // excludes `directory`
  std::vector<int> rights;
  std::optional<BrokerCredentials> credentials;
};

struct BrokerAnswer {
  std::uint64_t call = 0;
  std::int64_t result = 0;  // negative errno on failure
  bool fault = false;       // the call was not made: `result` is of a step before it
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint32_t mode = 0;
  std::string path;  // of kFile: as aasm/wire/broker_file.h says
  std::vector<process::Fd> descriptors;

  // The only one; empty without any.
  process::Fd take_descriptor();
};

// Neither call waits. One thread.
class BrokerClient {
 public:
  BrokerClient() = default;
  explicit BrokerClient(process::Fd socket) : socket_(std::move(socket)) {}

  // False when the broker has not yet taken what was sent before. kInvalidArgument: the order does
  // not fit a message. Any other error: the broker is gone.
  schema::Result<bool> send(std::uint64_t call, const BrokerOrder& order) const;
  schema::Result<bool> cancel(std::uint64_t call) const;

  // An answer that has come; nullopt without one. An error: the broker is gone.
  schema::Result<std::optional<BrokerAnswer>> receive();

  // For poll(2); -1 without a broker.
  int fd() const { return socket_.get(); }
  void close() { socket_.reset(); }

 private:
  schema::Result<std::optional<BrokerAnswer>> receive_one(std::uint32_t* flags) const;

  process::Fd socket_;
  std::map<std::uint64_t, BrokerAnswer> held_;  // that come with what the broker has open itself
};

}  // namespace aasm::backend_native
