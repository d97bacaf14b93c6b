#pragma once

#include "aasm/wire/broker_message.h"

#include "file_walk.h"
#include "socket_message.h"

namespace aasm::helper {

// One request with everything it needs while it lasts, the stack of its thread included.
struct BrokerCall {
  int tid;  // of its thread; 0: none, stored by the kernel
  int reply_fd;
  uint64_t call;
  size_t done;  // bytes of the data that have gone
  uint32_t num_fds;
  int fds[wire::kMaxBrokerRights + 2];
  alignas(16) char stack[16384];
  alignas(8) wire::BrokerRequest request;
  char payload[wire::kMaxBrokerPayload];  // the sections
  alignas(8) char control[wire::kMaxBrokerControl + sizeof(ControlHead) +
                          sizeof(int) * (wire::kMaxBrokerRights + 1)];
  WalkText walk;
  alignas(8) char places[sizeof(wire::BrokerFileReply) +
                         2 * wire::kMaxBrokerPlacePath];  // of the reply
};

inline bool has(const BrokerCall& call, uint32_t flag) {
  return (call.request.flags & flag) != 0;
}

// Whether `size` bytes of message and the descriptors are what the header says.
bool check_request(const BrokerCall& call, long size);

// Does what can be done without waiting and answers it. False when a thread has to do it, or the
// rest of it.
bool do_at_once(BrokerCall& call);

// The rest, in a thread of its own that shares neither directory, mask nor credentials with others:
// waits as long as the kernel does. SIGUSR1 ends a wait as any signal would.
void do_waiting(BrokerCall& call);

// The sections of a request of kind kFile.
struct FileSections {
  const wire::BrokerFile* file;
  const char* names;
};
FileSections file_sections(const BrokerCall& call);

// Answers with `path` behind the header and `count` descriptors, at most kMaxBrokerGiven + 1.
// False: they could not be sent, and the answer was a fault instead (EMFILE), so that nobody waits.
bool send_reply(const BrokerCall& call, wire::BrokerReply& reply, Piece path, const int* fds,
                uint32_t count);

void answer_fault(const BrokerCall& call, long result);

// Closes the descriptors that came with the request.
void close_descriptors_of(BrokerCall& call);

}  // namespace aasm::helper
