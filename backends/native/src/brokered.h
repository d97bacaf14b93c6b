#pragma once

#include <linux/seccomp.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "broker_calls.h"
#include "file_answer.h"

namespace aasm::backend_native {

inline constexpr std::uint64_t kMaxMessages = 1024;  // UIO_MAXIOV

// One call on its way. Lives from its notification to its end.
struct BrokerCalls::Brokered : BrokeredCall {
  seccomp_data data{};
  process::Fd socket;  // the caller's
  SocketFacts facts;
  std::string path;       // that a unix address has
  process::Fd directory;  // the caller's, or the socket file that a name led to
  wire::BrokerKind resolving = wire::BrokerKind::kConnect;  // with order.kind kFile: what for

  std::int64_t began = 0;  // second of CLOCK_REALTIME: a bind

  // Of a name of a socket that is judged (brokered_bind.cc).
  struct Bind {
    std::string address;    // as the caller gave it; empty: no such bind
    process::Fd directory;  // that the name was found to be in
    FileId at;
    FileCall described;
    int turns = 0;
  } bind;

  MemoryUse memory;      // with order.kind kMemory
  bool finding = false;  // not making

  OutgoingMessage message;
  std::uint64_t gone = 0;           // bytes of it
  std::int64_t piece = 0;           // bytes under way
  std::uint64_t message_index = 0;  // sendmmsg
  std::uint64_t num_messages = 1;

  std::optional<schema::Event> event;  // of the decision that is being carried out
};

// Makes the order one to look a name up as the caller would, its own links of proc(5) too; `wanted`
// says for which call.
void order_look_up(const BrokeredCall& call, wire::BrokerFile wanted, const std::string& path,
                   int directory, BrokerOrder& order);

// What a unix socket address says. kOther: nothing that leads anywhere; the kernel answers it.
struct UnixName {
  enum class Kind : std::uint8_t { kOther, kPath, kAbstract };
  Kind kind = Kind::kOther;
  std::string text;  // the path, or the name without its zero
};
UnixName read_unix_name(const std::string& address);

inline std::span<const std::uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

}  // namespace aasm::backend_native
