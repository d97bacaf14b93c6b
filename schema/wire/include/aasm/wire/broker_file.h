#pragma once

#include <stdint.h>  // NOLINT(modernize-deprecated-headers): the helper has no C++ library.

#include "aasm/wire/broker_message.h"

// Calls on names in the filesystem, as the broker makes them (BrokerKind::kFile). The control
// section of the request is a BrokerFile; its data section is one name, or two, each ended by NUL.
// The descriptors to start relative names from come with it, in the order of the names. Names are
// the caller's: a link /proc/self leads to its process. The reply's path section is a
// BrokerFileReply and the paths of its places.
namespace aasm::wire {

enum class BrokerFileCall : uint32_t {
  kOpen = 1,      // openat(2), of which open(2) and creat(2) are forms
  kOpenHow = 2,   // openat2(2)
  kTruncate = 3,  // truncate(2)
  kUnlink = 4,    // unlinkat(2), of which unlink(2) and rmdir(2) are forms; so the others
  kMakeDirectory = 5,
  kMakeNode = 6,
  kMakeSymlink = 7,  // the second name is the text of the link
  kRename = 8,       // renameat2(2), from the first name to the second
  kLink = 9,         // linkat(2)
  kExecute = 10,     // whether execveat(2) would be refused: nothing is executed
  // What changes attributes, in all forms of the call: kResolve without a second section, then kAct
  // on kGivenTarget with what it is to become as the second section.
  kChangeMode = 11,       // chmod(2)
  kChangeOwner = 12,      // chown(2): `mode` is the user, `value` the group
  kChangeTimes = 13,      // utimensat(2): two struct timespec; nothing: now
  kSetAttribute = 14,     // setxattr(2) with `flags`: the name, ended by NUL, and the value
  kRemoveAttribute = 15,  // removexattr(2): the name, ended by NUL
  kSetFlags = 16,         // file_setattr(2): its struct file_attr
  kControl = 17,          // ioctl(2), `value`: what its argument points to
};

constexpr bool changes_attributes(uint32_t call) {
  return call >= static_cast<uint32_t>(BrokerFileCall::kChangeMode);
}

// A bit of BrokerFile::how beside AT_EMPTY_PATH: the call was one on a descriptor, as fchmod(2).
inline constexpr uint32_t kHowDescriptor = 1U << 31;

enum class BrokerTurn : uint32_t {
  kWhole = 0,    // look the names up and make the call
  kResolve = 1,  // only look them up: what they lead to comes back by descriptors
  kAct = 2,      // make the call on what kResolve gave back
};

// With kAct, bits of BrokerFile::given: which descriptors come with the request, in this order. The
// bits of BrokerFileReply::given are the same, of what comes back.
inline constexpr uint32_t kGivenFirst = 1U << 0;   // the directory that the first name is in
inline constexpr uint32_t kGivenTarget = 1U << 1;  // what the first name leads to, O_PATH
inline constexpr uint32_t kGivenSecond = 1U << 2;  // the directory that the second name is in
inline constexpr uint32_t kGivenOpened = 1U << 3;  // of an open: what it opened

struct BrokerFile {
  uint32_t call;     // BrokerFileCall
  uint32_t turn;     // BrokerTurn
  uint32_t how;      // AT_*, or RENAME_*
  uint32_t given;    // kGiven*; without kAct: kGivenFirst, kGivenSecond, where to start from
  uint64_t flags;    // O_*, XATTR_*
  uint64_t mode;     // of what is made
  uint64_t resolve;  // RESOLVE_*
  uint64_t value;    // kTruncate: the length; kMakeNode: the device
  uint64_t limit;    // kTruncate: the caller's RLIMIT_FSIZE
  uint32_t tgid;     // the caller's
  uint32_t tid;
  uint32_t first_size;   // bytes of the first name, its NUL too
  uint32_t second_size;  // of the second section; 0: there is none
  uint32_t own[2];       // supervisor and warden: of these nothing on proc(5) is changed
};

// What a name was found to lead to, before the call; of an opened file, what was opened.
struct BrokerPlace {
  uint64_t device;  // st_dev, st_ino, st_rdev
  uint64_t inode;
  uint64_t special;
  uint32_t mode;       // st_mode; 0: there is nothing of that name, or it was not looked at
  uint32_t path_size;  // bytes of its path, free of links; 0: it was not found where it would be
  uint32_t
      last_size;   // bytes of the name's last part, which kAct wants as the name; behind the path
  uint32_t flags;  // kPlace*
};

// The name led there by a link of proc(5): the directory that comes back is that of the link.
inline constexpr uint32_t kPlaceByProcess = 1U << 0;
// It has no name any more, or never had one: what its link of proc(5) says is no path.
inline constexpr uint32_t kPlaceRemoved = 1U << 1;
// Its directory was reached by a link of proc(5): the name leads elsewhere for another process.
inline constexpr uint32_t kPlaceBeyondProcess = 1U << 2;

// The call was not made: it was about a process of ours.
inline constexpr uint32_t kReplyOurs = 1U << 0;

struct BrokerFileReply {
  BrokerPlace places[2];
  uint32_t given;
  uint32_t flags;  // kReply*
};

// Calls that pass over more links than that end in ELOOP, as in the kernel.
inline constexpr uint32_t kMaxBrokerLinks = 40;
inline constexpr uint32_t kMaxBrokerGiven = 3;  // descriptors in one reply, without what was opened
inline constexpr uint32_t kMaxBrokerLast = 512;
inline constexpr uint32_t kMaxBrokerPlacePath = kMaxBrokerPath + 2 * kMaxBrokerLast;

static_assert(sizeof(BrokerFile) == 80);
static_assert(sizeof(BrokerPlace) == 40);
static_assert(sizeof(BrokerFileReply) == 88);

}  // namespace aasm::wire
