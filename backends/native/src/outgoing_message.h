#pragma once

#include <linux/seccomp.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "aasm/process/fd.h"
#include "aasm/schema/result.h"

#include "caller_memory.h"
#include "network_spec.h"

// What a blocked caller wants to send, as sendto(2), sendmsg(2) and sendmmsg(2) say it (x86_64 and
// aarch64: struct user_msghdr, struct mmsghdr). Errors as in caller_memory.h.
namespace aasm::backend_native {

struct OutgoingMessage {
  std::string name;  // the address, copied once; empty: where the socket is connected to
  std::vector<RemoteSpan> spans;
  std::uint64_t total = 0;  // bytes of them
  std::string control;      // without SCM_RIGHTS
  std::vector<process::Fd> rights;
};

inline constexpr std::uint64_t kMmsghdrSize = 64;
inline constexpr std::uint64_t kMmsghdrLength = 56;  // of msg_len in it

// struct user_msghdr of a 64-bit caller.
struct RemoteHeader {
  std::uint64_t name;
  std::int32_t name_size;
  std::uint32_t padding;
  std::uint64_t spans;
  std::uint64_t num_spans;
  std::uint64_t control;
  std::uint64_t control_size;
  std::uint32_t flags;
  std::uint32_t more_padding;
};
static_assert(sizeof(RemoteHeader) == kMmsghdrLength);

// An address that a register names. Lengths that the kernel refuses are EINVAL.
schema::Result<std::string> read_address(pid_t tid, std::uint64_t address, std::int32_t length);

// The spans of memory that a header names, and their bytes together in `total`. EMSGSIZE, EINVAL:
// as the kernel says of too many or of too large ones.
schema::Result<std::vector<RemoteSpan>> read_span_list(pid_t tid, const RemoteHeader& header,
                                                       std::uint64_t* total);

schema::Result<OutgoingMessage> read_sendto(pid_t tid, const seccomp_data& call);

// The message at `address`. Takes the descriptors that its control messages pass; those that claim
// to be process `pid` will say `broker`, whose process sends them. A control message that would
// carry a route is EPERM and not a kernel_answer().
schema::Result<OutgoingMessage> read_msghdr(pid_t tid, pid_t pid, std::uint64_t address,
                                            const NetworkSpec& spec, pid_t broker);

}  // namespace aasm::backend_native
