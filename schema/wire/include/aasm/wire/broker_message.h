#pragma once

#include <stdint.h>  // NOLINT(modernize-deprecated-headers): the helper has no C++ library.

// Messages on the socket between supervisor and broker, one a packet. A request is the header below
// and its sections in the order groups, control, name, data, each padded to eight bytes; the
// descriptors it speaks of come with it by SCM_RIGHTS: the caller's socket, then the one that a
// flag names, then those to pass on; of kFile only these last. A reply is its header, then the
// path. The broker answers every request but kCancel exactly once, in any order. The end of file on
// its side ends the broker.
namespace aasm::wire {

inline constexpr uint32_t kBrokerMagic = 0x424D4141;   // "AAMB"
inline constexpr uint32_t kMaxBrokerGroups = 64;       // supplementary groups
inline constexpr uint32_t kMaxBrokerControl = 1024;    // of sendmsg(2), without SCM_RIGHTS
inline constexpr uint32_t kMaxBrokerName = 128;        // of a socket address, or a path in one
inline constexpr uint32_t kMaxBrokerData = 64U << 10;  // of one turn
inline constexpr uint32_t kMaxBrokerFileData = kMaxBrokerData + 512;  // of kFile: an attribute too
inline constexpr uint32_t kMaxBrokerPath = 4096;
inline constexpr uint32_t kMaxBrokerRights = 250;   // to pass on; the kernel takes 253 a message
inline constexpr uint32_t kMaxBrokerWaiting = 192;  // calls that wait in the kernel at a time

enum class BrokerKind : uint32_t {
  kConnect = 1,
  kBind = 2,
  kListen = 3,
  kSend = 4,
  kCancel = 6,  // the call `call` is to end as if a signal had come; may be repeated
  kMemory = 7,  // shmget, semget, msgget, by BrokerMemory: no socket comes with it
  kFile = 8,    // on names in the filesystem: aasm/wire/broker_file.h
};

// What kMemory makes or finds: the key is `backlog`, the flags are `send_flags`, `mode_mask` is one
// of these, and the name is the eight bytes of a size or a number of semaphores.
enum class BrokerMemory : uint32_t { kMemory = 0, kSemaphores = 1, kMessages = 2 };

// Bits of BrokerRequest::flags.
inline constexpr uint32_t kBrokerMayWait = 1U << 0;      // else EAGAIN where it would block
inline constexpr uint32_t kBrokerOwnThread = 1U << 1;    // it may block whatever is asked for
inline constexpr uint32_t kBrokerDirectory = 1U << 2;    // a descriptor of the working directory
inline constexpr uint32_t kBrokerTarget = 1U << 3;       // one of the socket file to connect to
inline constexpr uint32_t kBrokerCredentials = 1U << 4;  // uid, gid, groups and capabilities hold
inline constexpr uint32_t kBrokerStream = 1U << 5;       // a send goes on until all has gone
inline constexpr uint32_t kBrokerSayFile = 1U << 6;      // kBind of a path: what it leads to then
// kBind of a path: no socket is made but below the directory that comes behind.
inline constexpr uint32_t kBrokerBelow = 1U << 7;

struct BrokerRequest {
  uint32_t magic;
  uint32_t kind;  // BrokerKind
  uint64_t call;  // chosen by the supervisor; never used twice
  uint32_t flags;
  uint32_t send_flags;  // MSG_*
  int32_t backlog;
  uint32_t mode_mask;  // with kBrokerDirectory, and of kFile: the umask
  uint32_t uid;
  uint32_t gid;
  uint32_t num_groups;
  uint32_t num_rights;
  uint32_t control_size;  // bytes, as are the next two
  uint32_t name_size;
  uint32_t data_size;
  uint32_t reserved;
  uint64_t capabilities;  // effective
};

// Bits of BrokerReply::flags.
inline constexpr uint32_t kBrokerFault = 1U << 0;  // a step before the call failed: `result`
// A file that was opened for writing came with it and is still open in the broker as well; a second
// answer to the same call, with kBrokerLetGo and nothing else, says when it is not.
inline constexpr uint32_t kBrokerHolds = 1U << 1;
inline constexpr uint32_t kBrokerLetGo = 1U << 2;

struct BrokerReply {
  uint32_t magic;
  uint32_t flags;
  uint64_t call;
  int64_t result;   // of the system call: negative errno on failure
  uint64_t device;  // of what was made (kBrokerSayFile): st_dev, st_ino, st_mode
  uint64_t inode;
  uint32_t mode;
  uint32_t path_size;  // bytes of its path, which follow
};

constexpr uint32_t broker_padded(uint32_t size) {
  return (size + 7U) / 8U * 8U;
}

inline constexpr uint32_t kMaxBrokerPayload =
    kMaxBrokerGroups * 4 + kMaxBrokerControl + kMaxBrokerName + broker_padded(kMaxBrokerFileData);

static_assert(sizeof(BrokerRequest) == 72);
static_assert(__builtin_offsetof(BrokerRequest, capabilities) == 64);
static_assert(sizeof(BrokerReply) == 48);

}  // namespace aasm::wire
